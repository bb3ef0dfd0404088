import { MillraceError } from '../errors/millrace-error.js';
import type { EmbeddingModel } from '../contracts/embedding-model.js';
import type { WorkerPool } from '../inference/workers/pool.js';
import { Releasers } from '../flow/releasers.js';
import { systemClock } from '../flow/system-clock.js';
import type { Connectors } from '../config/schema.js';
import { versionOf } from '../elements/version.js';
import { agreesWith, describeChain, readChain } from '../pipeline/artifacts.js';
import { measureOf } from '../pipeline/measure-of.js';
import { fitToModel } from '../pipeline/fit-to-model.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { openModel, openPool } from './open-model.js';
import { openSource, openStore, type OpenContext } from './open-parts.js';

/** What a look at one part of a pipeline found. */
export interface Finding {
  readonly part: 'source' | 'model' | 'store';
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
    const pool = openPool({ workers: 1 }, context);
    let model: EmbeddingModel | undefined;
    yield await look('model', async () => {
      model = await openModelHere(spec, pool, context);
      if (model === undefined) return 'not on this machine yet: the first run fetches it';
      await model.embed([{ text: 'word' }], 'document');
      const { name, width, dtype } = model.identity;
      return `${name}: ${width} components, ${dtype}, at most ${model.maxTokens} tokens a chunk`;
    });
    yield await look('store', async () => {
      const store = await openStore(spec, context);
      const stored = await readChain(store.artifacts);
      if (stored === undefined) return 'nothing stored yet';
      if (model !== undefined) {
        const fitted = fitToModel(spec.chunk, model, context.report);
        agreesWith(stored, describeChain(spec, fitted, measureOf(fitted, model), model.identity));
      }
      const { documents, chunks } = await store.count();
      return `${documents} documents, ${chunks} chunks`;
    });
  } finally {
    await releasers.release();
  }
}

/** A check fetches nothing. */
async function openModelHere(
  spec: PipelineSpec,
  pool: WorkerPool,
  context: OpenContext,
): Promise<EmbeddingModel | undefined> {
  const { offline } = spec.models;
  try {
    return await openModel(spec.embed, { ...spec, models: { ...spec.models, offline: true } }, pool, context);
  } catch (error) {
    if (!offline && isFromHub(spec) && MillraceError.from(error).code === 'model_not_found') return undefined;
    throw error;
  }
}

/** `owner/name`; a folder or the bundled model is here or nowhere. */
function isFromHub({ embed }: PipelineSpec): boolean {
  return /^[\w-][\w.-]*\/[\w.-]+$/.test((embed.static ?? embed.onnx)?.model ?? '');
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
  const stop = new AbortController();
  const first = versionOf(0, 0n);
  const deliveries = source.deliveries({
    signal: stop.signal,
    watch: false,
    maxItemBytes: spec.limits.maxItemBytes,
    allowMassDeletion: false,
    passStart: async () => first,
    observe: async (ids) => ids.map(() => first),
  });
  for await (const delivery of deliveries) {
    stop.abort();
    if (delivery.kind === 'elements')
      return `"${source.name}" can be read: it begins with ${JSON.stringify(delivery.elements[0]!.id)}`;
  }
  return `"${source.name}" can be read, and holds nothing`;
}
