/** One side of the embed benchmark, in a process of its own. */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { EmbedText } from '../src/contracts/embedding-model.js';
import { systemClock } from '../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../src/inference/load-model.js';
import { modelSpec } from '../src/inference/model-spec.js';
import { createWorkerPool } from '../src/inference/workers/pool.js';
import { createEmbedder } from '../src/transforms/embed.js';
import { answer } from './child-process.js';
import { graphOf, openBareWorkers } from './embed-bare.js';
import { openRival, type Rival } from './embed-rivals.js';
import type { EmbedInput, ReadyText, TextSet, TextSets } from './embed-texts.js';
import { watchDelay } from './main-thread-delay.js';

export type Dtype = 'fp32' | 'int8';

export interface EmbedSideInput extends EmbedInput {
  readonly side: 'engine' | 'bare' | 'idle' | Rival;
  readonly set: TextSet;
  readonly dtype: Dtype;
  /** Batch sizes of the bare workers, in tokens with padding: each is run. */
  readonly budgets: readonly number[];
}

export interface EmbedSideResult {
  /** How many were embedded, from the first of the set on. */
  readonly texts: number;
  /** One time a budget for the bare workers, else one. */
  readonly ms: readonly number[];
  /** Processor time of all threads, in ms, alongside `ms`. */
  readonly cpuMs: readonly number[];
  /** 99th percentile of the main thread's delay, in ms. */
  readonly delayMs: number;
  /** Share of the tokens that a model computed on that were padding; 0 where that is not known. */
  readonly waste: number;
  /** The vector of the first text. */
  readonly vector: readonly number[];
}

const width = 384;
const idleMs = 3_000;
/** Times that both sides embed the first texts: V8 then has compiled what is called once a batch. A daemon embeds for long. */
const warmUps = 3;
/** They remember no words and compile little, and take long: fewer texts tell as much of them. */
const rivalWarmUp = 32;
const rivalTexts = 384;

await answer(async (input: EmbedSideInput): Promise<EmbedSideResult> => {
  const { [input.set]: texts, warmUp } = JSON.parse(readFileSync(input.texts, 'utf8')) as TextSets;
  switch (input.side) {
    case 'engine':
      return engine(input, texts, warmUp);
    case 'bare':
      return bare(input, texts, warmUp);
    case 'idle': {
      const delay = watchDelay();
      await wait(idleMs);
      return { texts: 0, ms: [idleMs], cpuMs: [0], delayMs: delay(), waste: 0, vector: [] };
    }
    case 'transformers':
    case 'langchain':
    case 'fastembed': {
      const { side, folder, dtype, workers } = input;
      const embed = await openRival(side, { folder, dtype, threads: workers });
      const plain = texts.slice(0, rivalTexts).map(({ text }) => text);
      await embed(warmUp.slice(0, rivalWarmUp).map(({ text }) => text));
      return measured(() => embed(plain), plain.length);
    }
    default:
      return input.side satisfies never;
  }
});

/** Mixed texts come as text, chunks with the ids that the chunker has of them. */
async function engine(
  { folder, dtype, workers, set }: EmbedSideInput,
  texts: readonly ReadyText[],
  warmUp: readonly ReadyText[],
): Promise<EmbedSideResult> {
  const pool = createWorkerPool({ size: workers });
  const spec = modelSpec.parse({ onnx: { model: folder, dtype, threads: 1 } });
  const model = await loadEmbeddingModel(spec, { pool, baseFolder: '.', cacheFolder: '.' });
  let [tokens, padded] = [0, 0];
  const embedder = createEmbedder({
    model,
    role: 'document',
    clock: systemClock,
    signal: new AbortController().signal,
    report: (event) => {
      if (event.type !== 'batch') return;
      tokens += event.cost;
      padded += event.paddedCost ?? 0;
    },
  });
  const given = texts.map(({ text, ids }): EmbedText =>
    set === 'mixed' ? { text } : { text, ids: Int32Array.from(ids) },
  );
  for (let time = 0; time < warmUps; time += 1) await embedder.embedAll(warmUp.map(({ text }) => ({ text })));
  [tokens, padded] = [0, 0];
  const result = await measured(
    async () => (await embedder.embedAll(given)).map(({ vector }) => vector),
    texts.length,
  );
  await model.close();
  await pool.close();
  return { ...result, waste: 1 - tokens / padded };
}

async function bare(
  { folder, dtype, workers, budgets }: EmbedSideInput,
  texts: readonly ReadyText[],
  warmUp: readonly ReadyText[],
): Promise<EmbedSideResult> {
  const open = openBareWorkers(graphOf(folder, dtype), workers, 1);
  for (let time = 0; time < warmUps; time += 1) await open.run(warmUp, budgets[0]!);
  const results: { ms: number; cpuMs: number; vectors: Float32Array[] }[] = [];
  for (const tokens of budgets) {
    const before = process.cpuUsage();
    results.push({ ...(await open.run(texts, tokens)), cpuMs: since(before) });
  }
  await open.close();
  check(results[0]!.vectors, texts.length);
  return {
    texts: texts.length,
    ms: results.map(({ ms }) => ms),
    cpuMs: results.map(({ cpuMs }) => cpuMs),
    delayMs: 0,
    waste: 0,
    vector: [...results[0]!.vectors[0]!],
  };
}

async function measured(
  work: () => Promise<readonly ArrayLike<number>[]>,
  count: number,
): Promise<EmbedSideResult> {
  const delay = watchDelay();
  const before = process.cpuUsage();
  const began = performance.now();
  const vectors = await work();
  const ms = performance.now() - began;
  const result = { texts: count, ms: [ms], cpuMs: [since(before)], delayMs: delay(), waste: 0 };
  check(vectors, count);
  return { ...result, vector: Array.from(vectors[0]!) };
}

/** A fast wrong answer is no figure. */
function check(vectors: readonly ArrayLike<number>[], count: number): void {
  if (vectors.length !== count) throw new Error(`${vectors.length} vectors for ${count} texts.`);
  for (let at = 0; at < count; at += 1)
    if (vectors[at]?.length !== width || !Number.isFinite(vectors[at]?.[0]))
      throw new Error(`Text ${at} has no vector of ${width} components.`);
}

function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
