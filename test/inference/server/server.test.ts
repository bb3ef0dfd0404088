import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmbeddingModel } from '../../../src/contracts/embedding-model.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { systemClock } from '../../../src/flow/system-clock.js';
import { loadEmbeddingModel } from '../../../src/inference/load-model.js';
import {
  createInferenceServer,
  type InferenceServer,
  type InferenceServerOptions,
} from '../../../src/inference/server/create-server.js';
import type { ServedModel } from '../../../src/inference/server/served-model.js';
import { createPooledTokenizer } from '../../../src/inference/tokenizer/pooled-tokenizer.js';
import { createWorkerPool, type WorkerPool } from '../../../src/inference/workers/pool.js';
import type { ServerEvent } from '../../../src/observability/server-events.js';

const token = 'a-token-of-some-length';
let pool: WorkerPool;
let model: EmbeddingModel;
let served: ServedModel;
let server: InferenceServer;
let url: string;
let events: ServerEvent[];
/** Holds every embedding back until it is called. */
let letGo: () => void;

beforeAll(async () => {
  pool = createWorkerPool({ size: 1 });
  model = await loadEmbeddingModel(
    { static: { model: 'bundled', prompts: {} } },
    { pool, baseFolder: '/', cacheFolder: '/nonexistent', offline: true },
  );
  const tokenizer = createPooledTokenizer({
    tokenizer: model.tokenizer!,
    pool,
    clock: systemClock,
    signal: new AbortController().signal,
    report: () => undefined,
  });
  served = {
    modelId: 'bundled-id',
    width: model.identity.width,
    maxTokens: { document: 50, query: 50 },
    tokenize: (texts, signal) => tokenizer.idsOfEach(texts, signal),
    embed: async (texts, role) => (await model.embed(texts, role)).vectors,
  };
});
afterAll(async () => {
  await model.close();
  await pool.close();
});

async function start(options: Partial<InferenceServerOptions> = {}, name = 'small'): Promise<void> {
  events = [];
  server = createInferenceServer({
    models: new Map([[name, served]]),
    queue: { texts: 8, bytes: 100_000 },
    request: { texts: 6, bytes: 20_000 },
    clock: systemClock,
    report: (event) => events.push(event as ServerEvent),
    metrics: async () => ({ contentType: 'text/plain', text: 'some_total 1' }),
    ...options,
  });
  url = await server.listen('127.0.0.1', 0);
}
afterEach(() => server.abort());

function held(): ServedModel {
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  return { ...served, embed: (...asked) => gate.then(() => served.embed(...asked)) };
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly json: {
    data: { embedding: number[]; index: number }[];
    usage: object;
    error: Record<string, unknown>;
  };
}

/** Has a server embed one text as four million components, and does not read the answer yet. */
async function longAnswer(encoding_format: 'float' | 'base64'): Promise<IncomingMessage> {
  const wide = new Float32Array(4_000_000).fill(0.5);
  await start({ models: new Map([['small', { ...served, embed: async () => [wide] }]]) });
  server.ready();
  return new Promise((resolve, reject) => {
    const call = httpRequest(`${url}/v1/embeddings`, { method: 'POST' }, resolve);
    call.on('error', reject);
    call.end(JSON.stringify({ model: 'small', input: 'a', encoding_format }));
  });
}

async function ask(
  body: unknown,
  headers: Record<string, string> = {},
  path = '/v1/embeddings',
  signal?: AbortSignal,
): Promise<Reply> {
  const response = await fetch(url + path, {
    method: 'POST',
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    headers,
    ...(signal !== undefined && { signal }),
  });
  return {
    status: response.status,
    headers: response.headers,
    json: (await response.json()) as Reply['json'],
  };
}

const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers });

describe('a request', () => {
  beforeEach(async () => {
    await start();
    server.ready();
  });

  test('is answered with a vector for each text, in their order, and real token counts', async () => {
    const input = ['ants live in colonies', 'bees make honey'];
    const { json, status } = await ask({ model: 'small', input });
    expect(status).toBe(200);
    const { vectors } = await model.embed(
      input.map((text) => ({ text })),
      'document',
    );
    expect(json.data.map(({ embedding }) => embedding)).toEqual(vectors.map((vector) => [...vector]));
    expect(json.data.map(({ index }) => index)).toEqual([0, 1]);
    const ids = (await served.tokenize(input, new AbortController().signal)) as Int32Array[];
    const tokens = ids[0]!.length + ids[1]!.length;
    expect(json.usage).toEqual({ prompt_tokens: tokens, total_tokens: tokens });
    expect(events.at(-1)).toMatchObject({
      type: 'request',
      route: 'embeddings',
      status: 200,
      texts: 2,
      tokens,
      stages: { tokenizeMs: expect.any(Number), embedMs: expect.any(Number) },
    });
  });

  test.each([
    ['no JSON', '{', 400, 'invalid_json', null],
    [
      'bytes that are not UTF-8',
      Buffer.from('{"model":"small","input":"caf\xe9"}', 'latin1'),
      400,
      'invalid_utf8',
      null,
    ],
    ['nothing', '', 400, 'invalid_json', null],
    ['null', null, 400, 'invalid_value', null],
    ['a text', '"x"', 400, 'invalid_value', null],
    ['a list', [], 400, 'invalid_value', null],
    ['no model', { input: 'a' }, 400, 'invalid_value', 'model'],
    ['another model', { model: 'large', input: 'a' }, 404, 'model_not_found', 'model'],
    ['no model', { input: 'a' }, 400, 'invalid_value', 'model'],
    ['no input', { model: 'small' }, 400, 'invalid_value', 'input'],
    ['an empty list', { model: 'small', input: [] }, 400, 'invalid_value', 'input'],
    ['null for its input', { model: 'small', input: null }, 400, 'invalid_value', 'input'],
    ['null for a text', { model: 'small', input: ['a', null] }, 400, 'invalid_value', 'input'],
    ['a blank text', { model: 'small', input: ['a', ' \n'] }, 400, 'invalid_value', 'input'],
    ['a number', { model: 'small', input: ['a', 7] }, 400, 'invalid_value', 'input'],
    ['token ids', { model: 'small', input: [[1, 2]] }, 400, 'invalid_value', 'input'],
    ['too many texts', { model: 'small', input: Array(7).fill('a') }, 400, 'invalid_value', 'input'],
    [
      'too long a text',
      { model: 'small', input: ['a', 'word '.repeat(51)] },
      400,
      'context_length_exceeded',
      'input',
    ],
    ['another width', { model: 'small', input: 'a', dimensions: 7 }, 400, 'invalid_value', 'dimensions'],
    [
      'an unknown form',
      { model: 'small', input: 'a', encoding_format: 'hex' },
      400,
      'invalid_value',
      'encoding_format',
    ],
    [
      'an unknown role',
      { model: 'small', input: 'a', input_type: 'poem' },
      400,
      'invalid_value',
      'input_type',
    ],
    ['an unknown field', { model: 'small', input: 'a', stream: true }, 400, 'invalid_value', 'stream'],
    ['too large a body', { model: 'small', input: 'a'.repeat(30_000) }, 413, 'body_too_large', null],
  ] as const)('with %s is refused, and told why', async (_, body, status, code, param) => {
    const reply = await ask(body);
    expect(reply.status).toBe(status);
    expect(reply.json.error).toEqual({
      type: 'invalid_request_error',
      code,
      param,
      message: expect.any(String),
    });
    expect(server.load).toEqual({ texts: 0, bytes: 0 });
    // The connection is still good.
    expect((await ask({ model: 'small', input: 'ants' })).status).toBe(200);
  });

  test('may say null where it has nothing to say', async () => {
    const unsaid = { encoding_format: null, dimensions: null, input_type: null, user: null };
    const { json, status } = await ask({ model: 'small', input: 'ants', ...unsaid });
    expect(status).toBe(200);
    expect(json.data).toEqual((await ask({ model: 'small', input: 'ants' })).json.data);
  });

  test('with half a surrogate pair is embedded as a document with it is', async () => {
    const embedded = async (text: string) => (await ask({ model: 'small', input: text })).json.data;
    expect(await embedded('ants \ud800 bees')).toEqual(await embedded('ants \ufffd bees'));
    expect(await embedded('\udc00')).toEqual(await embedded('\ufffd'));
  });

  test('too large is told to a client that sends it without its length', async () => {
    const status = await new Promise((resolve, reject) => {
      const call = httpRequest(`${url}/v1/embeddings`, { method: 'POST' }, (reply) =>
        resolve(reply.statusCode),
      );
      call.once('error', reject);
      for (let at = 0; at < 100; at += 1) call.write('x'.repeat(10_000));
      call.end();
    });
    expect(status).toBe(413);
  });

  test('to an unknown place is a 404 in the same shape', async () => {
    expect((await ask({}, {}, '/v1/completions')).json.error['code']).toBe('unknown_url');
    const { error } = (await ask({}, {}, '/embeddings')).json;
    expect(error['message']).toContain('There is no POST /embeddings here.');
    expect(error['message']).toContain('base URL ends in /v1');
    expect((await get('/v1/models/none')).status).toBe(404);
    expect((await get('//')).status).toBe(404);
  });

  test('for the models says what they are, names with a slash too', async () => {
    await server.abort();
    await start({}, 'owner/small');
    const described = { id: 'owner/small', object: 'model', dimensions: served.width, max_tokens: 50 };
    expect(await (await get('/v1/models')).json()).toMatchObject({ object: 'list', data: [described] });
    expect(await (await get('/v1/models/owner%2Fsmall')).json()).toMatchObject(described);
    expect(await (await get('/v1/models/owner/small')).json()).toMatchObject(described);
  });

  test('of a client that leaves is noted as that', async () => {
    const call = httpRequest(`${url}/v1/embeddings`, {
      method: 'POST',
      headers: { 'content-length': 5_000 },
    });
    call.on('error', () => undefined);
    call.write('{"model":');
    while (server.load.bytes === 0) await new Promise((done) => setTimeout(done, 5));
    call.destroy();
    while (events.length === 0) await new Promise((done) => setTimeout(done, 5));
    expect(events).toMatchObject([{ type: 'request', status: 499 }]);
    expect(server.load).toEqual({ texts: 0, bytes: 0 });
  });

  test.each(['tokenize', 'embed'] as const)(
    'of a client that leaves in the middle (%s) gives its room back when that ends',
    async (stage) => {
      await server.abort();
      const gate = new Promise<void>((resolve) => (letGo = resolve));
      let asked: AbortSignal | undefined;
      const hold = async (signal: AbortSignal) => {
        asked ??= signal;
        await gate;
      };
      const model: ServedModel = {
        ...served,
        tokenize: async (texts, signal) => {
          if (stage === 'tokenize') await hold(signal);
          return served.tokenize(texts, signal);
        },
        embed: async (texts, role, signal) => {
          if (stage === 'embed') await hold(signal);
          return served.embed(texts, role, signal);
        },
      };
      await start({ models: new Map([['small', model]]) });
      server.ready();
      const leave = new AbortController();
      const reply = ask({ model: 'small', input: 'a' }, {}, undefined, leave.signal);
      await expect.poll(() => asked).toBeDefined();
      leave.abort();
      await expect(reply).rejects.toThrow();
      await expect.poll(() => asked!.aborted).toBe(true);
      expect(server.load.texts).toBe(1);
      letGo();
      await expect.poll(() => events).toMatchObject([{ type: 'request', status: 499 }]);
      expect(server.load).toEqual({ texts: 0, bytes: 0 });
      expect((await ask({ model: 'small', input: 'a' })).status).toBe(200);
    },
  );

  test('of a client that leaves while it reads the answer leaves nothing', async () => {
    await server.abort();
    const answer = await longAnswer('float');
    answer.destroy();
    expect(server.load).toEqual({ texts: 0, bytes: 0 });
    expect((await get('/health')).status).toBe(200);
    // Nothing waits for who left.
    await server.drain();
  });

  test('is not computed any more for a client that leaves while it waits', async () => {
    await server.abort();
    const asked: AbortSignal[] = [];
    const waits: ServedModel['embed'] = (_, __, signal) => {
      asked.push(signal);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    await start({ models: new Map([['small', { ...served, embed: waits }]]) });
    server.ready();
    const leave = new AbortController();
    const reply = ask({ model: 'small', input: 'a' }, {}, undefined, leave.signal);
    while (asked.length === 0) await new Promise((done) => setTimeout(done, 5));
    leave.abort();
    await expect(reply).rejects.toThrow();
    while (events.length === 0) await new Promise((done) => setTimeout(done, 5));
    expect(asked[0]!.aborted).toBe(true);
    expect(events).toMatchObject([{ type: 'request', status: 499 }]);
    expect(server.load).toEqual({ texts: 0, bytes: 0 });
  });
});

describe('a model that fails', () => {
  const error = new MillraceError('inference_failed', 'The text breaks it.');
  /** Refuses what says `poison`. */
  const embed: ServedModel['embed'] = async (texts) =>
    texts.map(({ text }) => (text === 'poison' ? error : new Float32Array(served.width).fill(1)));

  test('on a text is the fault of the request, which is told where that text is', async () => {
    await start({ models: new Map([['small', { ...served, embed }]]) });
    server.ready();
    const refused = async (input: unknown) => {
      const { status, json } = await ask({ model: 'small', input });
      expect({ status, error: json.error }).toMatchObject({
        status: 422,
        error: { code: 'inference_failed', param: 'input', type: 'invalid_request_error' },
      });
      return json.error['message'];
    };
    expect(await refused('poison')).toBe('input: The text breaks it.');
    expect(await refused(['a', 'b', 'poison'])).toBe('input[2]: The text breaks it.');
    expect(await refused(['a', 'poison', 'b', 'poison'])).toBe('input[1] (and 1 more): The text breaks it.');
    expect(server.load).toEqual({ texts: 0, bytes: 0 });
  });

  test('on a text while it is tokenised is told alike', async () => {
    const crash = new MillraceError('worker_crashed', 'It ended its worker.');
    const tokenize: ServedModel['tokenize'] = async () => [Int32Array.of(1), crash];
    await start({ models: new Map([['small', { ...served, tokenize }]]) });
    server.ready();
    expect(await ask({ model: 'small', input: ['a', 'b'] })).toMatchObject({
      status: 422,
      json: { error: { code: 'worker_crashed', message: 'input[1]: It ended its worker.' } },
    });
  });

  test('by a defect is the fault of the server', async () => {
    const failing = async () => Promise.reject(new Error('a defect'));
    await start({ models: new Map([['small', { ...served, embed: failing }]]) });
    server.ready();
    expect((await ask({ model: 'small', input: 'a' })).status).toBe(500);
    expect(events[0]).toMatchObject({ type: 'request-failed', error: { message: 'a defect' } });
  });
});

describe('a server that is full', () => {
  test('answers 429 with Retry-After by texts and by bytes, and takes work again when it has room', async () => {
    await start({ models: new Map([['small', held()]]) });
    server.ready();
    const first = ask({ model: 'small', input: Array(5).fill('a') });
    while (server.load.texts < 5) await new Promise((done) => setTimeout(done, 5));
    const second = await ask({ model: 'small', input: Array(4).fill('a') });
    expect(second).toMatchObject({
      status: 429,
      json: { error: { code: 'queue_full', type: 'rate_limit_error' } },
    });
    expect(second.headers.get('retry-after')).toBe('1');
    const third = ask({ model: 'small', input: Array(3).fill('a') });
    while (server.load.texts < 8) await new Promise((done) => setTimeout(done, 5));
    letGo();
    expect([(await first).status, (await third).status]).toEqual([200, 200]);
    expect(server.load).toEqual({ texts: 0, bytes: 0 });

    await server.abort();
    await start({ models: new Map([['small', held()]]), queue: { texts: 1_000, bytes: 3_000 } });
    server.ready();
    const large = ask({ model: 'small', input: Array(3).fill('x '.repeat(25)), user: 'u'.repeat(2_500) });
    while (server.load.texts < 3) await new Promise((done) => setTimeout(done, 5));
    expect((await ask({ model: 'small', input: 'a', user: 'u'.repeat(500) })).status).toBe(429);
    letGo();
    expect((await large).status).toBe(200);
  });
});

test('an input of another kind is told what was expected', async () => {
  await start();
  server.ready();
  const { json } = await ask({ model: 'small', input: 5 });
  expect(json.error.message).toBe('input: expected a text or a list of texts.');
});

describe('who may ask', () => {
  test('with a token: who has it; health is open', async () => {
    await start({ token });
    server.ready();
    expect((await ask({ model: 'small', input: 'a' })).status).toBe(401);
    expect((await ask({ model: 'small', input: 'a' }, { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await ask({ model: 'small', input: 'a' }, { authorization: `Bearer ${token}` })).status).toBe(
      200,
    );
    // The name of the scheme is the same in any case (RFC 9110, 11.1).
    expect((await ask({ model: 'small', input: 'a' }, { authorization: `bearer ${token}` })).status).toBe(
      200,
    );
    expect((await get('/metrics')).status).toBe(401);
    expect((await get('/v1/models')).status).toBe(401);
    expect((await get('/health')).status).toBe(200);
    expect(JSON.stringify(events)).not.toContain(token);
  });

  test('without a token: who names this machine', async () => {
    await start();
    server.ready();
    const statusFor = (host: string) =>
      new Promise((resolve, reject) =>
        httpRequest(`${url}/v1/models`, { headers: { host } }, (reply) => {
          reply.resume();
          resolve(reply.statusCode);
        })
          .once('error', reject)
          .end(),
      );
    expect(await statusFor('localhost:8080')).toBe(200);
    expect(await statusFor('[::1]:8080')).toBe(200);
    expect(await statusFor('evil.example')).toBe(403);
    expect(await statusFor('127.0.0.1.evil.example')).toBe(403);
  });

  test('beyond loopback nobody without a token: the server does not start', async () => {
    await start();
    await expect(server.listen('0.0.0.0', 0)).rejects.toMatchObject({ code: 'config_invalid' });
  });
});

describe('the life of a server', () => {
  test('is live from the start, ready when it is told so, and neither when it stops', async () => {
    await start();
    expect((await get('/health/live')).status).toBe(200);
    expect((await get('/health')).status).toBe(503);
    expect(await ask({ model: 'small', input: 'a' })).toMatchObject({
      status: 503,
      json: { error: { code: 'not_ready' } },
    });
    server.ready();
    expect(await (await get('/health/ready')).json()).toEqual({ status: 'ready' });
    expect(await (await get('/metrics')).text()).toContain('some_total 1');
  });

  test('draining answers what is under way, closes its connections, and takes nothing more', async () => {
    await start({ models: new Map([['small', held()]]) });
    server.ready();
    const call = ask({ model: 'small', input: 'a' });
    while (server.load.texts === 0) await new Promise((done) => setTimeout(done, 5));
    let drained = false;
    const drain = server.drain().then(() => (drained = true));
    await expect(get('/health')).rejects.toThrow();
    expect(drained).toBe(false);
    letGo();
    const reply = await call;
    expect(reply.status).toBe(200);
    expect(reply.headers.get('connection')).toBe('close');
    await drain;
  });

  test('draining waits for a client that reads a long answer slowly', async () => {
    const answer = await longAnswer('base64');
    const over = server.drain().then(() => server.abort());
    await new Promise((done) => setTimeout(done, 50));
    let bytes = 0;
    for await (const part of answer) bytes += (part as Buffer).length;
    expect(bytes).toBe(Number(answer.headers['content-length']));
    await over;
  });

  test('giving up answers what is under way with 503, its body whole or not, and notes it so', async () => {
    await start({ models: new Map([['small', held()]]) });
    server.ready();
    const waiting = ask({ model: 'small', input: 'a' });
    const sending = new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'content-length': 5_000 };
      const call = httpRequest(`${url}/v1/embeddings`, { method: 'POST', headers }, ({ statusCode }) =>
        resolve(statusCode),
      );
      call.once('error', reject);
      call.write('{"model":');
    });
    while (server.load.texts === 0 || server.load.bytes < 5_000)
      await new Promise((done) => setTimeout(done, 5));
    await server.abort();
    expect(await waiting).toMatchObject({ status: 503, json: { error: { code: 'stopping' } } });
    expect(await sending).toBe(503);
    expect(events).toMatchObject([
      { type: 'request', status: 503 },
      { type: 'request', status: 503 },
    ]);
    letGo();
    await expect.poll(() => server.load).toEqual({ texts: 0, bytes: 0 });
  });

  test('an address that is taken is an error that names it', async () => {
    await start();
    const other = createInferenceServer({
      models: new Map(),
      queue: { texts: 1, bytes: 1 },
      request: { texts: 1, bytes: 1 },
      clock: systemClock,
      report: () => undefined,
      metrics: async () => ({ contentType: '', text: '' }),
    });
    const port = Number(new URL(url).port);
    await expect(other.listen('127.0.0.1', port)).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining(`127.0.0.1:${port}`),
      hint: expect.stringContaining('--port'),
    });
  });
});
