import type { Artifacts } from './artifacts.js';
import type { ChunkSearch } from './chunk-search.js';
import type { ConnectorContext } from './context.js';
import type { Generations } from './generations.js';
import type { KeptTexts } from './kept-texts.js';
import type { Sink } from './sink.js';

/** A place that holds chunks, vectors, the ledger and the artifacts of a pipeline together. */
export interface Store {
  /**
   * Writes to the generation that was active when the store was prepared. @throws MillraceError `generation_moved` from
   * `write` once another one is
   */
  readonly sink: Sink;
  readonly search: ChunkSearch;
  /**
   * Metadata field that says whose a document is, names from the outside in, where the store keeps documents by tenant: a
   * search whose filter names one tenant reads the chunks of that one. Absent where it does not.
   */
  readonly tenant?: readonly string[];
  /** Of the generation that was active when the store was prepared, or is active now. */
  readonly artifacts: Artifacts;
  /** What the sources of the pipeline remember, whatever the generation. */
  readonly memory: Artifacts;
  /** Absent where the store has only one. */
  readonly generations?: Generations;
  /** Absent where the store cannot keep them. */
  readonly texts?: KeptTexts;
  /**
   * Makes the tables, or checks those that are there; all or nothing, and safe when several processes do it at once.
   * Called once before the first write; readers need not call it.
   * @throws MillraceError `store_layout` when the tables hold vectors in other spaces or of another width, or belong to a
   * newer Millrace
   */
  prepare(layout: StoreLayout): Promise<void>;
  /** Whatever makes reading fast after many writes (a vector index once the size calls for it). Safe at any time. */
  tune(signal?: AbortSignal): Promise<void>;
  count(): Promise<StoreCount>;
  /** Waits for what is under way. */
  close(): Promise<void>;
}

export interface StoreLayout {
  /** From 1, in an order that does not matter. */
  readonly spaces: readonly SpaceLayout[];
  /** Chunks are written with their terms. Only asked of a store that has `searchTerms`. Default: false. */
  readonly terms?: boolean;
}

/** Vectors of one model, which are never compared with those of another. */
export interface SpaceLayout {
  /** Name of the model in the configuration; `*` where there is only one. */
  readonly name: string;
  /** Components of a vector. */
  readonly width: number;
}

export interface StoreCount {
  /** Documents in state `stored`. */
  readonly documents: number;
  readonly chunks: number;
}

export type StoreFactory<Config> = (config: Config, context: ConnectorContext) => Promise<Store>;
