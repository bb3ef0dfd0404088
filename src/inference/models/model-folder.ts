/** A model on this machine: every file that its handler asked for is there and is what its digest says. */
export interface ModelFolder {
  /** For people: `bundled`, the folder's name, or the hub id. */
  readonly name: string;
  /** Absolute path. */
  readonly path: string;
  /** Absolute path of the folder that this one is a copy of: the one to tell people of. */
  readonly copyOf?: string;
  /** Commit on the hub, 40 hex characters; absent for a bundled model and for a plain folder. */
  readonly revision?: string;
  /** The files that the handler asked for, by their path in the folder (with `/`). */
  readonly files: ReadonlyMap<string, ModelFile>;
}

export interface ModelFile {
  readonly bytes: number;
  /** SHA-256 of the content, hex. */
  readonly sha256: string;
}

/**
 * Says which of a model's files a handler needs, from the paths of all files that the model has.
 * @param model the folder or hub id, for messages
 * @throws MillraceError `model_unsupported` when the model lacks a file that the handler cannot do without
 */
export type SelectFiles = (paths: readonly string[], model: string) => readonly string[];
