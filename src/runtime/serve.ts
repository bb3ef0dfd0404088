import type { Clock } from '../contracts/context.js';
import { MillraceError } from '../errors/millrace-error.js';
import { systemChance } from '../flow/chance.js';
import { Releasers } from '../flow/releasers.js';
import { Stop } from '../flow/stop.js';
import { systemClock } from '../flow/system-clock.js';
import { untilAborted } from '../errors/until-aborted.js';
import { identityDigest } from '../inference/identity.js';
import { createInferenceServer } from '../inference/server/create-server.js';
import type { ServedModel } from '../inference/server/served-model.js';
import { createPooledTokenizer } from '../inference/tokenizer/pooled-tokenizer.js';
import type { ModelSpec } from '../inference/model-spec.js';
import type { WorkerPool } from '../inference/workers/pool.js';
import type { Metrics } from '../observability/metrics.js';
import type { ServerReport } from '../observability/server-events.js';
import type { ServeSpec } from '../config/serve-config.js';
import { createEmbedder } from '../transforms/embed.js';
import { openModel, openPool } from './open-model.js';

export interface ServeOptions {
  /** Aborting it lets what is under way finish, for as long as the specification says. */
  readonly signal: AbortSignal;
  /** Aborting it gives up what is under way. */
  readonly abort?: AbortSignal;
  readonly metrics: Metrics;
  readonly onEvent?: ServerReport;
  readonly clock?: Clock;
}

export type ServeEnd = 'drained' | 'aborted';

/**
 * Serves models to other processes until it is stopped. It listens before the models are loaded, so that `/health` can
 * say so.
 * @throws MillraceError of an address that cannot be had or a model that cannot be loaded
 */
export async function serveModels(spec: ServeSpec, options: ServeOptions): Promise<ServeEnd> {
  const { metrics, clock = systemClock } = options;
  const report: ServerReport = (event) => {
    metrics.see(event);
    options.onEvent?.(event);
  };
  const stop = new Stop(clock);
  const releasers = new Releasers();
  releasers.push(listen(options.signal, () => stop.drain(spec.stopDeadlineMs)));
  releasers.push(listen(options.abort, () => stop.abort()));
  const models = new Map<string, ServedModel>();
  const server = createInferenceServer({ ...spec, models, clock, report, metrics: () => metrics.page() });
  metrics.gauge('queue_texts', 'Texts that wait or are under way.', () => server.load.texts);
  metrics.gauge('queue_bytes', 'Bytes of requests that are held.', () => server.load.bytes);
  metrics.gauge('models', 'Models that are loaded.', () => models.size);
  try {
    const url = await server.listen(spec.host, spec.port);
    await serveAt(url);
    return end('drained');
  } catch (error) {
    if (!stop.draining.aborted || MillraceError.from(error).code !== 'aborted') throw error;
    return end(stop.aborting.aborted ? 'aborted' : 'drained');
  } finally {
    stop.settle();
    await releasers.release();
  }

  async function serveAt(url: string): Promise<void> {
    try {
      report({ type: 'listening', url });
      const pool = openPool(spec, { releasers });
      for (const [name, model] of Object.entries(spec.serve)) {
        const began = clock.now();
        const served = await openServed(name, model, pool);
        models.set(name, served);
        report({ type: 'model-loaded', model: name, modelId: served.modelId, ms: clock.now() - began });
      }
      server.ready();
      report({ type: 'ready', url });
      await aborted(stop.draining);
      await untilAborted(server.drain(), stop.aborting);
    } finally {
      // What is under way is answered before its model goes.
      await server.abort();
    }
  }

  function end(how: ServeEnd): ServeEnd {
    report({ type: 'stopped', end: how });
    return how;
  }

  async function openServed(name: string, model: ModelSpec, pool: WorkerPool): Promise<ServedModel> {
    const opened = await openModel(model, spec, pool, { releasers, report, clock }, stop.draining);
    if (opened.tokenizer === undefined)
      throw new MillraceError('config_invalid', `The model "${name}" does not run here.`, {
        hint: 'Serve models of the handlers static and onnx.',
      });
    const signal = stop.aborting;
    const tokenizer = createPooledTokenizer({ tokenizer: opened.tokenizer, pool, clock, signal, report });
    releasers.push(() => tokenizer.close());
    const embedder = (role: 'document' | 'query') =>
      createEmbedder({ model: opened, role, clock, chance: systemChance, signal, report });
    const { document, query } = opened.identity.prompts;
    const [ofDocument, ofQuery] = await tokenizer.ids([document, query]);
    const embedders = { document: embedder('document'), query: embedder('query') };
    return {
      modelId: identityDigest(opened.identity),
      width: opened.identity.width,
      maxTokens: {
        document: opened.maxTokens,
        query: opened.maxTokens + ofDocument!.length - ofQuery!.length,
      },
      tokenize: (texts, signal) => tokenizer.idsOfEach(texts, signal),
      embed: async (texts, role, signal) =>
        (await embedders[role].embedEach(texts, signal)).map((embedded) =>
          embedded instanceof Error ? embedded : embedded.vector,
        ),
    };
  }
}

function listen(signal: AbortSignal | undefined, react: () => void): () => void {
  if (signal?.aborted) react();
  signal?.addEventListener('abort', react, { once: true });
  return () => signal?.removeEventListener('abort', react);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
