/** A document as a store holds it, read without Millrace. */
export interface StoredText {
  /** Of its chunks in their order. */
  readonly texts: readonly string[];
  /** How many chunks there are, by the ledger. */
  readonly chunkCount: number;
}

export interface StoredVector {
  readonly hash: string;
  readonly vector: readonly number[];
}

/** A store under torture, looked into by other means than our own. */
export interface GenerationStore {
  /** Its part of the configuration. */
  readonly sink: object;
  /** Documents in the ledger of a generation, tombstones too; 0 where there is none. */
  ledgerSize(pipeline: string, generation: number): Promise<number>;
  /** Stored documents with what readers see of them, and chunks that nobody may see. */
  contents(
    pipeline: string,
    generation: number,
  ): Promise<{ readonly documents: ReadonlyMap<string, StoredText>; readonly unseen: number }>;
  /** Of each chunk of these documents, by document id and ordinal. */
  vectors(
    pipeline: string,
    generation: number,
    documentIds: readonly string[],
  ): Promise<ReadonlyMap<string, StoredVector>>;
  /** What the source gave of each stored document, as it is kept, and kept texts that are of none. */
  kept(
    pipeline: string,
    generation: number,
  ): Promise<{ readonly texts: ReadonlyMap<string, string>; readonly astray: number }>;
  stop(): Promise<void>;
}
