/** A model that can be loaded: nothing of it is in memory yet. */
export interface Loadable<Model> {
  /** Equal for all that would load the same: handler, digests of the files, options. */
  readonly key: string;
  /** For messages. */
  readonly name: string;
  /** Main memory that it takes, all its workers together; 0 where it lives elsewhere. */
  readonly bytes: number;
  /** SHA-256 of its weights, hex, where they are files. */
  readonly weights?: string;
  /**
   * Takes its files to where they stay, once. Called before every use, also of what was loaded by another: its workers may
   * have to load it again when that other has gone.
   */
  stage?(signal: AbortSignal): Promise<unknown>;
  /** What it held when it throws is free again. */
  load(signal: AbortSignal): Promise<Model>;
}
