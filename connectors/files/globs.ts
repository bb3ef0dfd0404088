import picomatch from 'picomatch';

/** Decides by relative path, with forward slashes, what is read. */
export interface Globs {
  file(path: string): boolean;
  /** Whether a folder can hold a file that is read. */
  folder(path: string): boolean;
}

// `s`: a newline in a name is a character like any other.
const options = { flags: 'is' };
const namesDotFolder = /(^|[/{,(])\.[^./]/;

export function compileGlobs(include: readonly string[], exclude: readonly string[]): Globs {
  const included = picomatch(include, options);
  const excluded = picomatch(exclude, options);
  const dots = include.some((pattern) => namesDotFolder.test(pattern));
  const bases = include.map((pattern) => `${picomatch.scan(pattern).base}/`.toLowerCase());
  const open = bases.includes('/');
  return {
    file: (path) => included(path) && !excluded(path),
    folder(path) {
      if (excluded(path)) return false;
      if (!dots && path.slice(path.lastIndexOf('/') + 1).startsWith('.')) return false;
      const prefix = `${path}/`.toLowerCase();
      return open || bases.some((base) => base.startsWith(prefix) || prefix.startsWith(base));
    },
  };
}
