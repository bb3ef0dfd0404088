import type { EnrichBatch } from '../contracts/document-transform.js';
import type { HandlerSpec } from '../inference/handler-spec.js';
import type { EmbedSpec } from '../inference/model-spec.js';
import type { Routed } from '../inference/routing.js';
import type { ChunkerSpec } from '../transforms/chunk/chunker.js';
import type { Json } from '../elements/metadata.js';
import type { LookupStepOptions } from '../transforms/lookup/lookup-step.js';
import type { SparseSpec } from '../transforms/terms/sparse-schema.js';
import type { InferField, Postprocess, Preprocess } from '../transforms/infer/infer-step.js';

/** A pipeline as plain data (but for functions of a TypeScript configuration): checked, with every default filled in. */
export interface PipelineSpec extends ChainSpec {
  readonly name: string;
  readonly source: ConnectorSpec;
  readonly sink: ConnectorSpec;
  readonly failed: ConnectorSpec;
  /** How long failed elements are kept, in ms; absent: until they are discarded, replayed or superseded. */
  readonly failedRetentionMs: number | undefined;
  readonly limits: LimitsSpec;
  readonly models: ModelsSpec;
  /** How models may be exchanged while a run goes on; absent: not at all. */
  readonly refresh: RefreshSpec | undefined;
  readonly generations: GenerationsSpec;
  /** Where it shows figures and health; undefined: nowhere. */
  readonly http: HttpSpec | undefined;
  /** Worker threads; absent: as many as there are CPUs. */
  readonly workers: number | undefined;
  /** How long a first stop signal waits for what is under way. */
  readonly stopDeadlineMs: number;
  /** Folder that relative paths refer to: that of the config file. */
  readonly baseFolder: string;
}

/** What happens when the chain is another one than that which filled the store. */
export interface GenerationsSpec {
  /** `hold`: the run is refused; `reindex`: it fills a new generation first and switches to it. */
  readonly onNewSpace: 'hold' | 'reindex';
  /** Questions that both generations are asked before a switch. */
  readonly canaries: readonly string[];
  /** Share, 0 to 1, of neighbours, and of what canaries find, that a new generation must have in common with the active one. */
  readonly minOverlap: number;
  /** Documents a second that a filling takes over at most. */
  readonly rate?: number | undefined;
  /** How long a retired generation is kept for a switch back. */
  readonly keepMs: number;
}

/** What a document goes through. */
export interface ChainSpec {
  /** In their order. */
  readonly documentSteps: readonly DocumentStepSpec[];
  readonly chunk: ChunkerSpec;
  readonly chunkSteps: readonly InferSpec[];
  /** Chunks are kept with their words; absent: without. */
  readonly sparse: SparseSpec | undefined;
  readonly embed: EmbedSpec;
}

export type DocumentStepSpec =
  | { readonly enrich: EnrichSpec; readonly infer?: never; readonly lookup?: never }
  | { readonly infer: InferSpec; readonly enrich?: never; readonly lookup?: never }
  | { readonly lookup: LookupSpec; readonly infer?: never; readonly enrich?: never };

/** A connector by its name in the registry, with its checked configuration. */
export interface ConnectorSpec {
  readonly connector: string;
  readonly config: unknown;
}

export interface EnrichSpec {
  readonly name: string;
  /** Stands for the code of the function in the chain's digest: raise it when the function gives other results. */
  readonly version: string;
  readonly batch: EnrichBatch;
  readonly batchSize: number;
  readonly concurrency: number;
  /** How often unchanged documents are enriched anew while a run goes on, in ms; absent: never. */
  readonly refreshEveryMs: number | undefined;
}

/** A look-up by a key of each document. */
export interface LookupSpec extends Omit<LookupStepOptions, 'ask'> {
  readonly from: ConnectorSpec;
  /** What of its configuration decides the rows. */
  readonly describes: Json;
  /** Stands for the code of a `join` function. */
  readonly version: string;
  readonly cache: CacheSpec | undefined;
  readonly timeoutMs: number;
  /** Calls in any second. */
  readonly rps: number | undefined;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly refreshEveryMs: number | undefined;
}

export interface CacheSpec {
  readonly ttlMs: number;
  readonly negativeTtlMs: number;
  /** Rows at most, in memory. */
  readonly entries: number;
  /** Absent: in memory. */
  readonly place: ConnectorSpec | undefined;
}

export interface InferSpec extends Routed<HandlerSpec> {
  readonly name: string;
  /** Stands for the code of the hooks and of a route function in the chain's digest. */
  readonly version: string;
  readonly field: InferField;
  /** A place in the metadata, `text` (of a document) or `context` (of a chunk). */
  readonly to: string;
  readonly preprocess?: Preprocess | undefined;
  readonly postprocess?: Postprocess | undefined;
  /** Most tokens of a `context`. */
  readonly maxTokens: number;
}

export interface LimitsSpec {
  /** Absent: by workers and batch sizes. */
  readonly elements?: number | undefined;
  /** Absent: by the number of workers. */
  readonly bytes?: number | undefined;
  readonly maxItemBytes: number;
  readonly maxChunks: number;
}

export interface ModelsSpec {
  /** Where models from the hub are kept. */
  readonly cacheFolder: string;
  readonly offline: boolean;
  readonly hubUrl?: string | undefined;
  readonly token?: string | undefined;
  /** Bytes of all loaded models together; absent: no limit. */
  readonly maxBytes?: number | undefined;
  readonly maxLoaded?: number | undefined;
}

export interface RefreshSpec {
  /** Models of the chain, as named there, whose folder or branch is looked at. */
  readonly watch: readonly string[];
  readonly everyMs: number;
  /** What an update may name beside the models of the chain. */
  readonly allow: readonly AllowedModel[];
  /** Where updates come from. */
  readonly events: ConnectorSpec | undefined;
}

export interface AllowedModel {
  readonly model: string;
  readonly revision?: string | undefined;
  /** The model of the chain whose place it takes. Default: the one of the same name. */
  readonly replaces?: string | undefined;
  /** SHA-256 of its weights, hex. */
  readonly weights?: string | undefined;
}

export interface HttpSpec {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly token?: string | undefined;
}
