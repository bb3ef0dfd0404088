/** The part of picomatch that is used here; the package brings no types. */
declare module 'picomatch' {
  interface Options {
    /** Flags of the regular expression that is made. */
    readonly flags?: string;
  }
  interface Picomatch {
    (patterns: readonly string[], options?: Options): (path: string) => boolean;
    /** `base`: the leading folders of a pattern that hold no wildcard. */
    scan(pattern: string): { readonly base: string };
  }
  const picomatch: Picomatch;
  export default picomatch;
}
