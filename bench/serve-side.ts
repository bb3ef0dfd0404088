/** One side of the serve benchmark, in a process of its own; the server is one more. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../src/inference/load-model.js';
import { modelSpec } from '../src/inference/model-spec.js';
import { createWorkerPool } from '../src/inference/workers/pool.js';
import { createEmbedder } from '../src/transforms/embed.js';
import { answer } from './child-process.js';

export interface ServeSideInput {
  readonly side: 'in-process' | 'served';
  /** The model's folder. */
  readonly folder: string;
  readonly dtype: 'fp32' | 'int8';
  readonly workers: number;
  /** JSON file of the texts: a list of strings. */
  readonly texts: string;
  /** The first so many come before the clock starts, from as many clients. */
  readonly warmUp: number;
  readonly clients: number;
  /** Texts of one request. */
  readonly request: number;
}

export interface ServeSideResult {
  readonly ms: number;
  /** Processor time of all threads and processes, in ms; the model's loading left out. */
  readonly cpuMs: number;
  /** Sum of all components: both sides must have the same vectors. */
  readonly sum: number;
}

type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

await answer(async (input: ServeSideInput): Promise<ServeSideResult> => {
  const texts = JSON.parse(readFileSync(input.texts, 'utf8')) as string[];
  switch (input.side) {
    case 'in-process':
      return inProcess(input, texts);
    case 'served':
      return served(input, texts);
    default:
      return input.side satisfies never;
  }
});

async function inProcess(input: ServeSideInput, texts: readonly string[]): Promise<ServeSideResult> {
  const { folder: model, dtype, workers } = input;
  const pool = createWorkerPool({ size: workers });
  const spec = modelSpec.parse({ onnx: { model, dtype } });
  const loaded = await loadEmbeddingModel(spec, { pool, baseFolder: '.', cacheFolder: '.' });
  const { embedAll } = createEmbedder({
    model: loaded,
    role: 'document',
    clock: systemClock,
    signal: new AbortController().signal,
    report: () => undefined,
  });
  const embed: Embed = async (some) =>
    (await embedAll(some.map((text) => ({ text })))).map(({ vector }) => vector);
  const result = await measured(input, texts, embed);
  await loaded.close();
  await pool.close();
  return result;
}

async function served(input: ServeSideInput, texts: readonly string[]): Promise<ServeSideResult> {
  const { folder, dtype, workers, clients } = input;
  const command = fileURLToPath(new URL('./serve-process.js', import.meta.url));
  const server = spawn(process.execPath, [command, JSON.stringify({ folder, dtype, workers })], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(server.stdout)[Symbol.asyncIterator]();
  const line = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('The server ended before it had said everything.');
    return value;
  };
  const url = await line();
  const spec = modelSpec.parse({
    openai: { url: `${url}/v1`, model: 'served', encoding: 'base64', concurrency: clients, maxTokens: 256 },
  });
  const pool = createWorkerPool({ size: 1 });
  const model = await loadEmbeddingModel(spec, { pool, baseFolder: '.', cacheFolder: '.' });
  const embed: Embed = async (some) =>
    (
      await model.embed(
        some.map((text) => ({ text })),
        'document',
      )
    ).vectors;
  const serverCpuMs = async () => {
    server.stdin.write('\n');
    return Number(await line());
  };
  const result = await measured(input, texts, embed, serverCpuMs);
  await model.close();
  await pool.close();
  server.kill('SIGTERM');
  return result;
}

async function measured(
  input: ServeSideInput,
  texts: readonly string[],
  embed: Embed,
  serverCpuMs: () => Promise<number> = async () => 0,
): Promise<ServeSideResult> {
  await askAll(input, texts.slice(0, input.warmUp), embed);
  const serverBefore = await serverCpuMs();
  const before = process.cpuUsage();
  const began = performance.now();
  const sum = await askAll(input, texts.slice(input.warmUp), embed);
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1_000 + (await serverCpuMs()) - serverBefore, sum };
}

/** So many clients at once, each with its next request when the last one is answered. @returns the sum of all components */
async function askAll(
  { clients, request }: Pick<ServeSideInput, 'clients' | 'request'>,
  texts: readonly string[],
  embed: Embed,
): Promise<number> {
  let next = 0;
  let sum = 0;
  const client = async () => {
    while (next < texts.length) {
      const some = texts.slice(next, (next += request));
      const vectors = await embed(some);
      if (vectors.length !== some.length)
        throw new Error(`${vectors.length} vectors for ${some.length} texts.`);
      for (const vector of vectors) sum += vector.reduce((all, component) => all + component, 0);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return sum;
}
