import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseServe } from '../../src/config/serve-config.js';
import { loadEmbeddingModel } from '../../src/inference/load-model.js';
import { modelSpec } from '../../src/inference/model-spec.js';
import { createWorkerPool } from '../../src/inference/workers/pool.js';
import type { RunEvent } from '../../src/observability/events.js';
import { createMetrics } from '../../src/observability/metrics.js';
import type { ServerEvent } from '../../src/observability/server-events.js';
import { serveModels, type ServeEnd } from '../../src/runtime/serve.js';
import { readmeParagraphs } from '../support/readme-paragraphs.js';
import { usePglite } from '../promises/bed.js';
import { minilmFolder } from '../support/weights/minilm.js';

const newBed = usePglite();
const minilm = { onnx: { model: minilmFolder() } };
const prompts = { document: 'passage: ', query: 'query: ' };
const options = { baseFolder: '/', cacheFolder: '/nonexistent', origin: 'the test' };
const stop = new AbortController();
const events: (RunEvent | ServerEvent)[] = [];
let end: Promise<ServeEnd>;
let client: OpenAI;
let url: string;
let expected: number[][];

const texts = readmeParagraphs()
  .filter(({ length }) => length > 20 && length < 300)
  .slice(0, 12);

beforeAll(async () => {
  const pool = createWorkerPool({ size: 1 });
  const direct = await loadEmbeddingModel(modelSpec.parse(minilm), { ...options, pool });
  const { vectors } = await direct.embed(
    texts.map((text) => ({ text })),
    'document',
  );
  expected = vectors.map((vector) => [...vector]);
  await direct.close();
  await pool.close();

  url = await new Promise<string>((ready, reject) => {
    const prompted = { onnx: { ...minilm.onnx, prompts } };
    const asked = { onnx: { ...minilm.onnx, prompts: { ...prompts, query: 'query of the mill: ' } } };
    end = serveModels(
      parseServe(
        { serve: { minilm, prompted, asked }, port: 0, workers: 2, models: { offline: true } },
        options,
      ),
      {
        signal: stop.signal,
        metrics: createMetrics(),
        onEvent: (event) => {
          events.push(event);
          if (event.type === 'ready') ready(event.url);
        },
      },
    );
    end.catch(reject);
  });
  client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
}, 60_000);

afterAll(async () => {
  stop.abort();
  expect(await end).toBe('drained');
});

describe('the official client of OpenAI', () => {
  test('gets the very vectors of the model, in the form that it asks for by default and as floats', async () => {
    const byDefault = await client.embeddings.create({ model: 'minilm', input: texts });
    expect(byDefault.data.map(({ embedding }) => embedding)).toEqual(expected);
    expect(byDefault.model).toBe('minilm');
    const floats = await client.embeddings.create({
      model: 'minilm',
      input: texts[0]!,
      encoding_format: 'float',
    });
    expect(floats.data[0]!.embedding).toEqual(expected[0]);
    expect(floats.usage.total_tokens).toBeGreaterThan(3);
  });

  test('tells documents from queries by input_type', async () => {
    const embed = async (input_type?: string) => {
      const body = { model: 'prompted', input: 'mill', ...(input_type !== undefined && { input_type }) };
      return (await client.embeddings.create(body)).data[0]!.embedding;
    };
    const direct = async (input: string) =>
      (await client.embeddings.create({ model: 'minilm', input })).data[0]!.embedding;
    expect(await embed()).toEqual(await direct('passage: mill'));
    expect(await embed('query')).toEqual(await direct('query: mill'));
  });

  test('is refused a query that its longer prompt would cut, and not the same text as a document', async () => {
    const { max_tokens } = (await client.models.retrieve('asked')) as unknown as { max_tokens: number };
    const embed = (tokens: number, input_type: string) => {
      const body = { model: 'asked', input: 'word '.repeat(tokens), input_type };
      return client.embeddings.create(body);
    };
    expect((await embed(max_tokens, 'document')).data).toHaveLength(1);
    await expect(embed(max_tokens, 'query')).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
    });
    // The prompts have 2 and 5 tokens.
    expect((await embed(max_tokens - 3, 'query')).data).toHaveLength(1);
    expect(events.filter((event) => event.type === 'notice' && event.code === 'text_truncated')).toEqual([]);
  });

  test('lists the models', async () => {
    const models = await client.models.list();
    expect(models.data.map(({ id }) => id)).toEqual(['minilm', 'prompted', 'asked']);
    expect((await client.models.retrieve('minilm')).id).toBe('minilm');
  });

  test('gets errors of its own kinds', async () => {
    const create = (input: string, model = 'minilm') => client.embeddings.create({ model, input });
    await expect(create('a', 'none')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(create('word '.repeat(2_000))).rejects.toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'input',
    });
  });
});

test('requests of many clients share batches, and metrics tell of them', async () => {
  events.length = 0;
  await Promise.all(texts.map((input) => client.embeddings.create({ model: 'minilm', input })));
  const batches = events.flatMap((event) => (event.type === 'batch' ? [event] : []));
  expect(batches.reduce((sum, { items }) => sum + items, 0)).toBe(texts.length);
  expect(batches.length).toBeLessThan(texts.length);
  const page = await (await fetch(`${url}/metrics`)).text();
  expect(page).toMatch(/millrace_requests_total\{route="embeddings",status="200"\} \d+/);
  expect(page).toMatch(/millrace_batch_seconds_count\{lane="[^"]+",stage="infer"\} \d+/);
  expect(page).toContain('millrace_queue_texts 0');
  expect(page).toContain('millrace_models 3');
});

test('a pipeline uses it as its model: the store holds the vectors of the model itself', async () => {
  const bed = await newBed();
  await bed.write(Object.fromEntries(texts.map((text, at) => [`docs/${at}.txt`, text])));
  const openai = {
    url: `${url}/v1`,
    model: 'prompted',
    encoding: 'base64' as const,
    inputType: { document: 'document', query: 'query' },
    tokenizer: minilmFolder(),
    maxTokens: 256,
  };
  const input = { chain: [{ chunk: { recursive: {} } }, { embed: { openai } }] };
  expect(await bed.run({ input })).toMatchObject({ embedded: texts.length, outcomes: { failed: 0 } });
  const retriever = await bed.retriever(input);
  const text = texts[5]!;
  const [hit] = await retriever.retrieve(text, { k: 1 });
  const direct = async (prompt: string) => {
    const { data } = await client.embeddings.create({ model: 'minilm', input: prompt + text });
    return data[0]!.embedding;
  };
  const [document, query] = [await direct('passage: '), await direct('query: ')];
  const cosine = document.reduce((sum, component, at) => sum + component * query[at]!, 0);
  expect(hit).toMatchObject({ documentId: 'docs/5.txt', score: expect.closeTo(cosine, 4) });
  await retriever.close();
}, 60_000);

test('a pipeline waits for a server that is full, and loses nothing', async () => {
  const small = new AbortController();
  let ended: Promise<ServeEnd>;
  const bound = { texts: 8, bytes: 100_000 };
  const address = await new Promise<string>((ready, reject) => {
    ended = serveModels(
      parseServe({ serve: { bundled: { static: {} } }, port: 0, workers: 1, queue: bound }, options),
      {
        signal: small.signal,
        metrics: createMetrics(),
        onEvent: (event) => void (event.type === 'ready' && ready(event.url)),
      },
    );
    ended.catch(reject);
  });
  const bed = await newBed();
  const documents = Array.from({ length: 60 }, (_, at) => [`docs/${at}.txt`, `Document number ${at}.`]);
  await bed.write(Object.fromEntries(documents) as Record<string, string>);
  const openai = { url: `${address}/v1`, model: 'bundled', concurrency: 8, maxBatch: { texts: 5 } };
  const waits: string[] = [];
  const { outcomes } = await bed.run({
    input: { chain: [{ chunk: { recursive: {} } }, { embed: { openai } }] },
    onEvent: (event) => void (event.type === 'retry' && waits.push(event.error.code)),
  });
  expect(outcomes).toMatchObject({ stored: 60, failed: 0 });
  expect(new Set(waits)).toEqual(new Set(['rate_limited']));
  small.abort();
  expect(await ended!).toBe('drained');
}, 60_000);

test('what is under way when a server is given up is answered 503, at whatever stage it is', async () => {
  const [given, stopping] = [new AbortController(), new AbortController()];
  const seen: (RunEvent | ServerEvent)[] = [];
  let ended: Promise<ServeEnd>;
  const address = await new Promise<string>((ready, reject) => {
    ended = serveModels(
      parseServe({ serve: { minilm }, port: 0, workers: 1, models: { offline: true } }, options),
      {
        signal: stopping.signal,
        abort: given.signal,
        metrics: createMetrics(),
        onEvent: (event) => {
          seen.push(event);
          if (event.type === 'ready') ready(event.url);
        },
      },
    );
    ended.catch(reject);
  });
  const post = (body: string) =>
    fetch(`${address}/v1/embeddings`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    });
  const asked = Array.from({ length: 40 }, (_, at) =>
    post(JSON.stringify({ model: 'minilm', input: Array(20).fill(`${at} `.repeat(100)) })),
  );
  await expect.poll(() => seen.some(({ type }) => type === 'batch')).toBe(true);
  given.abort();
  const statuses = await Promise.all(
    asked.map(async (reply) => {
      const answer = await reply;
      if (answer.status === 503) expect(await answer.json()).toMatchObject({ error: { code: 'stopping' } });
      return answer.status;
    }),
  );
  expect(statuses).toContain(503);
  expect(await ended!).toBe('aborted');
  const noted = seen.flatMap((event) => (event.type === 'request' ? [event.status] : []));
  expect(noted.sort()).toEqual(statuses.sort());
  expect(noted.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(seen.at(-1)).toMatchObject({ type: 'stopped', end: 'aborted' });
}, 60_000);
