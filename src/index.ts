/**
 * The public face of Millrace. Importing it loads no driver and no model runtime: they are loaded when a pipeline that
 * names them is run or queried.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { connectors } from '../connectors/registry.js';
import type { Environment } from './config/environment.js';
import { loadConfig } from './config/load.js';
import { parsePipeline } from './config/parse.js';
import type { PipelineInputOf } from './config/connector-input.js';
import type { PipelineSpec } from './pipeline/spec.js';
import type { Retriever } from './retrieval/retriever.js';
import { openPipelineRetriever } from './runtime/open-retriever.js';
import { runPipeline, type RunOptions as PipelineRunOptions } from './runtime/run.js';
import type { RunSummary } from './observability/events.js';

/** A pipeline as a TypeScript configuration says it; of look-ups (`enrich`) only `key` has a type. */
export type PipelineInput = PipelineInputOf<typeof connectors>;

/** A pipeline: what `definePipeline` gives, or the path of a configuration file. */
export type Pipeline = PipelineInput | string;

export interface PipelineOptions {
  /** Values of `${NAME}` in a configuration file; usually `process.env`. Default: none. */
  readonly env?: Environment;
  /** Folder that relative paths of a pipeline refer to. Default: the working folder; for a file, its own folder. */
  readonly baseFolder?: string;
}

export type RunOptions = PipelineOptions & Omit<PipelineRunOptions, 'connectors'>;

/**
 * Checks a pipeline and gives it back: for scripts, and as the default export of a TypeScript configuration.
 * @throws MillraceError `config_invalid` with one line for each thing that is wrong
 */
export function definePipeline(input: PipelineInput): PipelineInput {
  parse(input, {});
  return input;
}

/**
 * Brings the source of a pipeline into its store, until the source ends or `signal` aborts.
 * @throws MillraceError of what stopped the run; nothing is lost, whatever was under way comes again at the next run
 */
export async function run(pipeline: Pipeline, options: RunOptions = {}): Promise<RunSummary> {
  return runPipeline(await resolve(pipeline, options), { ...options, connectors });
}

/**
 * Opens the store of a pipeline for questions.
 * @throws MillraceError `artifact_mismatch` when the pipeline names another model than the store was filled with
 */
export async function openRetriever(pipeline: Pipeline, options: PipelineOptions = {}): Promise<Retriever> {
  return openPipelineRetriever(await resolve(pipeline, options), { connectors });
}

async function resolve(pipeline: Pipeline, options: PipelineOptions): Promise<PipelineSpec> {
  if (typeof pipeline !== 'string') return parse(pipeline, options);
  return loadConfig(pipeline, { env: options.env ?? {}, connectors, cacheFolder: cacheFolder() });
}

function parse(input: PipelineInput, { baseFolder = process.cwd() }: PipelineOptions): PipelineSpec {
  return parsePipeline(input, { connectors, baseFolder, cacheFolder: cacheFolder(), origin: 'The pipeline' });
}

/** Where models from the hub are kept unless a pipeline says otherwise: the hub's own cache. */
function cacheFolder(): string {
  return join(homedir(), '.cache', 'huggingface', 'hub');
}

export { chunk } from './transforms/chunk/chunk.js';
export { compareModels, type ModelComparison } from './transforms/infer/compare-models.js';
export type { KeyedResults } from './transforms/infer/labelled.js';
export type { OwnHandler } from './inference/own-handler.js';
export type { OwnEmbedding } from './inference/own-embedding.js';
export type { EmbeddingModel } from './contracts/embedding-model.js';
export { MillraceError } from './errors/millrace-error.js';
export type { ErrorCode } from './errors/codes.js';
export type { Retriever, RetrieveOptions } from './retrieval/retriever.js';
export type { StoredChunk } from './contracts/chunk-search.js';
export type { Hit, ScoreKind, SearchMode } from './retrieval/hit.js';
export type { Passage } from './retrieval/passage.js';
export type { Filter, FieldTest, FieldTests, FilterValue } from './elements/filter/filter.js';
export type { JoinFunction } from './transforms/lookup/join-row.js';
export type { LookupRow } from './contracts/lookup.js';
export type { EnrichBatch, Enrichment } from './contracts/document-transform.js';
export type { RunEvent, RunSummary } from './observability/events.js';
export type { RunControl } from './runtime/start-refresh.js';
export type { ModelUpdate } from './contracts/model-updates.js';
export type { RefreshOutcome } from './inference/refresh/refresher.js';
export type { Document } from './elements/document.js';
export type { Metadata, Json } from './elements/metadata.js';
