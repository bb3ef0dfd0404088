import { MillraceError } from '../errors/millrace-error.js';
import type { EmbeddingModel } from '../contracts/embedding-model.js';
import { Releasers } from '../flow/releasers.js';
import { systemClock } from '../flow/system-clock.js';
import type { Connectors } from '../config/schema.js';
import { agreesWith, describeChain, readChain } from '../pipeline/artifacts.js';
import { planEmbedding } from '../pipeline/plan-embedding.js';
import { within } from '../flow/within.js';
import { checkVector } from '../inference/check-vector.js';
import { findOnnxRuntime } from '../inference/handlers/onnx/find-onnx-runtime.js';
import type { LookupSpec, PipelineSpec } from '../pipeline/spec.js';
import { inferIds, inferSteps, openInferModels, type InferModels } from './open-infer.js';
import { openHandler, openModel, openPool } from './open-model.js';
import { checkTerms } from './check-terms.js';
import { lookupSteps } from './open-lookups.js';
import { lookingContext } from './looking-context.js';
import { openFailedStore, openLookup, openSource, openStore, type OpenContext } from './open-parts.js';
import { openEmbeddings } from './open-routes.js';

/** What a look at one part of a pipeline found. */
export interface Finding {
  readonly part: 'source' | 'lookup' | 'model' | 'store' | 'failed';
  /** What is well. */
  readonly detail?: string;
  /** What is not. */
  readonly error?: MillraceError;
}

/**
 * Looks at every part of a pipeline without writing anything: reads the first documents, loads the model and embeds a
 * word, asks the store what it holds and whether this chain may write to it.
 */
export async function* checkPipeline(spec: PipelineSpec, connectors: Connectors): AsyncGenerator<Finding> {
  const releasers = new Releasers();
  const context: OpenContext = { connectors, clock: systemClock, report: () => undefined, releasers };
  try {
    yield await look('source', () => checkSource(spec, context));
    for (const step of lookupSteps(spec)) yield await look('lookup', () => checkLookup(step, spec, context));
    const pool = openPool({ workers: 1 }, context);
    let models: ReadonlyMap<string, EmbeddingModel> | undefined;
    let infer: InferModels | undefined;
    yield await look('model', async () => {
      models = await openHere(spec, (local) =>
        openEmbeddings(local, (model) => openModel(model, local, pool, context)),
      );
      if (models === undefined) return fetchedLater(spec);
      const found: string[] = [];
      for (const model of models.values()) {
        const { name, width, dtype } = model.identity;
        const { vectors } = await model.embed([{ text: 'word' }], 'document');
        const fault = checkVector(vectors[0], width);
        if (fault !== undefined) throw fault;
        found.push(`${name}: ${width} components, ${dtype}, at most ${model.maxTokens} tokens a chunk`);
      }
      return found.join('; ');
    });
    if (inferSteps(spec).length > 0)
      yield await look('model', async () => {
        infer = await openHere(spec, (local) =>
          openInferModels(local, (model) => openHandler(model, local, pool, context)),
        );
        if (infer === undefined) return `infer steps: ${fetchedLater(spec)}`;
        return `infer steps: ${[...infer.keys()].map(({ name }) => name).join(', ')}`;
      });
    else infer = new Map();
    yield await look('store', async () => {
      const store = await openStore(spec, context);
      checkTerms(spec, store);
      const stored = await readChain(store.artifacts);
      if (stored === undefined) return 'nothing stored yet';
      if (models !== undefined && infer !== undefined) {
        const plan = planEmbedding(spec, models, context.report);
        agreesWith(stored, describeChain(spec, plan, inferIds(infer, spec.refresh !== undefined)));
      }
      const { documents, chunks } = await store.count();
      return `${documents} documents, ${chunks} chunks`;
    });
    yield await look('failed', async () => {
      const failed = await openFailedStore(spec, context);
      for await (const { documentId } of failed.list())
        return `can be read; the first is ${JSON.stringify(documentId)}`;
      return 'can be read; there is none';
    });
  } finally {
    await releasers.release();
  }
}

async function checkLookup(step: LookupSpec, spec: PipelineSpec, context: OpenContext): Promise<string> {
  const { name, timeoutMs } = step;
  const lookup = await openLookup(step, spec, context);
  const late = () =>
    new MillraceError('remote_unavailable', `"${name}" did not answer within ${timeoutMs} ms.`);
  const signal = new AbortController().signal;
  await within({ ms: timeoutMs, clock: context.clock, signal, late }, (cut) => lookup.probe(cut));
  return `"${name}" answers`;
}

/** A check fetches nothing. @returns undefined for what is on the hub and not here */
async function openHere<Opened>(
  spec: PipelineSpec,
  open: (local: PipelineSpec) => Promise<Opened>,
): Promise<Opened | undefined> {
  const { offline } = spec.models;
  // Better told now than after a download.
  if (namedModels(spec).some(({ onnx }) => onnx !== undefined)) findOnnxRuntime();
  try {
    return await open({ ...spec, models: { ...spec.models, offline: true } });
  } catch (error) {
    if (!offline && hubModels(spec).length > 0 && MillraceError.from(error).code === 'model_not_found')
      return undefined;
    throw error;
  }
}

/** The path of a folder that is not there reads like a hub id: so they are named. */
function fetchedLater(spec: PipelineSpec): string {
  return `not all on this machine yet: the first run fetches from the hub ${hubModels(spec).join(', ')}`;
}

/** `owner/name`; a folder or the bundled model is here or nowhere. */
function hubModels(spec: PipelineSpec): string[] {
  return namedModels(spec)
    .flatMap((model) => Object.values(model))
    .flatMap((options) => options?.model ?? [])
    .filter((model) => /^[\w-][\w.-]*\/[\w.-]+$/.test(model));
}

/** Of embed and infer: models that are files, by their handlers. */
function namedModels(spec: PipelineSpec) {
  const handlers = inferSteps(spec).flatMap(({ models }) => Object.values(models));
  const models = Object.values(spec.embed.models);
  return [
    ...models.map((model) => ({ static: model.static, onnx: model.onnx, transformers: undefined })),
    ...handlers.map(({ onnx, transformers }) => ({ static: undefined, onnx, transformers })),
  ];
}

async function look(part: Finding['part'], work: () => Promise<string>): Promise<Finding> {
  try {
    return { part, detail: await work() };
  } catch (error) {
    return { part, error: MillraceError.from(error) };
  }
}

/** The first delivery tells whether the source can be read. Nothing of it is settled. */
async function checkSource(spec: PipelineSpec, context: OpenContext): Promise<string> {
  const source = await openSource(spec, context);
  if (source.probe !== undefined) return `"${source.name}" can be read: ${await source.probe()}`;
  const stop = new AbortController();
  const deliveries = source.deliveries(lookingContext(stop.signal, spec.limits.maxItemBytes));
  for await (const delivery of deliveries) {
    stop.abort();
    if (delivery.kind === 'elements')
      return `"${source.name}" can be read: it begins with ${JSON.stringify(delivery.elements[0]!.id)}`;
  }
  return `"${source.name}" can be read, and holds nothing`;
}
