/** A backlog that drains through the engine, in a process of its own: the highest that it ever held is asked of it. */
import { readFileSync } from 'node:fs';
import { systemClock } from '../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../src/inference/load-model.js';
import { modelSpec } from '../src/inference/model-spec.js';
import { createWorkerPool } from '../src/inference/workers/pool.js';
import { createEmbedder } from '../src/transforms/embed.js';
import { answer } from './child-process.js';
import type { EmbedInput, ReadyText } from './embed-texts.js';
import type { Dtype } from './embed-side.js';
import { watchDelay } from './main-thread-delay.js';

/** The mixed texts are given over and over. */
export interface BacklogInput extends EmbedInput {
  readonly dtype: Dtype;
  readonly backlog: number;
  /** Stops after this time, in ms: the whole backlog waits meanwhile, and the longest texts go first. */
  readonly stopMs?: number;
}

export interface BacklogResult {
  readonly peakBytes: number;
  readonly embedded: number;
  readonly ms: number;
  readonly delayMs: number;
  readonly waste: number;
}

/** Share of texts that are as long as the model reads. */
const fullShare = 10;

await answer(async (input: BacklogInput): Promise<BacklogResult> => {
  const { folder, texts: file, dtype, workers, backlog, stopMs } = input;
  const { mixed } = JSON.parse(readFileSync(file, 'utf8')) as { mixed: ReadyText[] };
  const pool = createWorkerPool({ size: workers });
  const spec = modelSpec.parse({ onnx: { model: folder, dtype, threads: 1 } });
  const model = await loadEmbeddingModel(spec, { pool, baseFolder: '.', cacheFolder: '.' });
  const stop = new AbortController();
  let [tokens, padded, embedded] = [0, 0, 0];
  const embedder = createEmbedder({
    model,
    role: 'document',
    clock: systemClock,
    signal: stop.signal,
    report: (event) => {
      if (event.type !== 'batch') return;
      tokens += event.cost;
      padded += event.paddedCost ?? 0;
    },
  });
  const long = longText(mixed, model.maxTokens);
  const delay = watchDelay();
  const began = performance.now();
  const done = Promise.allSettled(
    Array.from({ length: backlog }, async (_, at) => {
      const text = at % fullShare === 0 ? long : mixed[at % mixed.length]!;
      // Each has ids of its own, as chunks have.
      const { vector } = await embedder.embed({ text: text.text, ids: Int32Array.from(text.ids) });
      if (vector.length === model.identity.width) embedded += 1;
    }),
  );
  const timer = stopMs === undefined ? undefined : setTimeout(() => stop.abort(), stopMs);
  const failed = (await done).filter((end) => end.status === 'rejected');
  clearTimeout(timer);
  const ms = performance.now() - began;
  if (!stop.signal.aborted && failed.length > 0) throw failed[0]!.reason;
  const result = {
    peakBytes: process.resourceUsage().maxRSS * 1024,
    embedded,
    ms,
    delayMs: delay(),
    waste: 1 - tokens / padded,
  };
  await model.close();
  await pool.close();
  return result;
});

function longText(texts: readonly ReadyText[], tokens: number): ReadyText {
  return {
    text: texts.map(({ text }) => text).join('\n'),
    ids: texts.flatMap(({ ids }) => ids).slice(0, tokens),
  };
}
