/** One side of the pipeline benchmark, in a process of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { files } from '../connectors/files/connector.js';
import { parsePipeline } from '../src/config/parse.js';
import { systemClock } from '../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../src/inference/load-model.js';
import { createWorkerPool } from '../src/inference/workers/pool.js';
import { makeChunks } from '../src/pipeline/make-chunks.js';
import { runPipeline } from '../src/runtime/run.js';
import { createChunker } from '../src/transforms/chunk/pooled-chunker.js';
import { ChunkIds } from '../src/elements/ids.js';
import { createDocument } from '../src/elements/document.js';
import { versionOf } from '../src/elements/version.js';
import { answer } from './child-process.js';
import { watchDelay } from './main-thread-delay.js';
import { memorySource } from './memory-source.js';
import { nothing } from './null-store.js';
import { readmes, repeated } from './readmes.js';

export type PipelineSide =
  | { readonly side: 'pipeline'; readonly units: number; readonly workers: number }
  | { readonly side: 'bare'; readonly units: number; readonly workers: number; readonly batch: number }
  | { readonly side: 'idle'; readonly ms: number };

export interface SideResult {
  readonly ms: number;
  readonly documents: number;
  readonly chunks: number;
  readonly tokens: number;
  /** 99th percentile of the main thread's delay, in ms. */
  readonly delayMs: number;
  /** Processor time of all threads, in ms. */
  readonly cpuMs: number;
}

const model = { static: { model: 'bundled', prompts: {} } };
const chunker = { markdown: { maxTokens: 256, overlap: 0, minTokens: 64 } };

await answer(async (input: PipelineSide): Promise<SideResult> => {
  switch (input.side) {
    case 'pipeline':
      return pipeline(repeated(readmes(), input.units), input.workers);
    case 'bare':
      return bare(repeated(readmes(), input.units), input.workers, input.batch);
    case 'idle': {
      const delay = watchDelay();
      await wait(input.ms);
      return { ms: input.ms, documents: 0, chunks: 0, tokens: 0, delayMs: delay(), cpuMs: 0 };
    }
    default:
      return input satisfies never;
  }
});

/** The whole run, from the source to a store that keeps nothing. */
async function pipeline(texts: readonly string[], workers: number): Promise<SideResult> {
  const baseFolder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  try {
    const source = memorySource(texts);
    const connectors = {
      files,
      nothing,
      memory: { source: { schema: files.source!.schema, load: async () => async () => source } },
    };
    const spec = parsePipeline(
      {
        name: 'bench',
        source: { memory: { root: '.' } },
        chain: [{ chunk: chunker }, { embed: model }],
        sink: { nothing: {} },
        failed: { files: {} },
        workers,
      },
      { connectors, baseFolder, cacheFolder: baseFolder, origin: 'The benchmark' },
    );
    let tokens = 0;
    const delay = watchDelay();
    let before = process.cpuUsage();
    const summary = await runPipeline(spec, {
      connectors,
      onEvent: (event) => {
        if (event.type === 'started') before = process.cpuUsage();
        if (event.type === 'batch' && event.lane === 'bundled') tokens += event.cost - 2 * event.items;
      },
    });
    const { stored } = summary.outcomes;
    if (stored !== texts.length) throw new Error(`${stored} of ${texts.length} documents were stored.`);
    return {
      ms: summary.ms,
      documents: stored,
      chunks: summary.chunks,
      tokens,
      delayMs: delay(),
      cpuMs: since(before),
    };
  } finally {
    await rm(baseFolder, { recursive: true, force: true });
  }
}

/** The handler alone: chunk texts that are ready, batches of one size, every worker busy. */
async function bare(texts: readonly string[], workers: number, batch: number): Promise<SideResult> {
  const { chunks, tokens } = await readyChunks(texts, workers);
  const pool = createWorkerPool({ size: workers });
  const embedder = await loadEmbeddingModel(model, { pool, baseFolder: '.', cacheFolder: '.' });
  const delay = watchDelay();
  const before = process.cpuUsage();
  const began = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: embedder.concurrency }, async () => {
      for (let from = next; from < chunks.length; from = next) {
        next += batch;
        await embedder.embed(
          chunks.slice(from, from + batch).map((text) => ({ text })),
          'document',
        );
      }
    }),
  );
  const ms = performance.now() - began;
  const delayMs = delay();
  const cpuMs = since(before);
  await embedder.close();
  await pool.close();
  return { ms, documents: texts.length, chunks: chunks.length, tokens, delayMs, cpuMs };
}

async function readyChunks(texts: readonly string[], workers: number) {
  const pool = createWorkerPool({ size: workers });
  const { signal } = new AbortController();
  const embedder = await loadEmbeddingModel(model, { pool, baseFolder: '.', cacheFolder: '.' });
  const { tokenizer } = embedder;
  const splitter = createChunker({
    chunker,
    tokenizer: tokenizer!,
    pool,
    clock: systemClock,
    signal,
    report: () => undefined,
  });
  const perText = new Map<string, { chunks: string[]; tokens: number }>();
  for (const text of new Set(texts)) {
    const { passages, ids } = await splitter.chunk(text);
    const document = createDocument({ id: 'text', text, version: versionOf(0, 0n) });
    perText.set(text, {
      // Copies: slices of one long string would cost more to send, or less, than what a caller has.
      chunks: makeChunks(new ChunkIds('bench'), document, passages).map(({ embeddedText }) =>
        Buffer.from(embeddedText).toString(),
      ),
      tokens: ids.reduce((sum, { length }) => sum + length, 0),
    });
  }
  await embedder.close();
  await pool.close();
  const all = texts.map((text) => perText.get(text)!);
  return {
    chunks: all.flatMap(({ chunks }) => chunks),
    tokens: all.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

function since(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
