import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { EmbeddingModel } from '../../../../src/contracts/embedding-model.js';
import { MillraceError } from '../../../../src/errors/millrace-error.js';
import { createOpenAiModel } from '../../../../src/inference/handlers/openai/create-openai-model.js';
import { openAiOptions } from '../../../../src/inference/handlers/openai/options.js';
import { identityDigest } from '../../../../src/inference/identity.js';
import { systemClock } from '../../../../src/flow/system-clock.js';
import { openAiVector, startOpenAi, type OpenAiDouble, type OpenAiOptions } from '../../../support/openai.js';
import { VirtualClock } from '../../../support/virtual-clock.js';
import type { Clock } from '../../../../src/contracts/context.js';

let api: OpenAiDouble;
let open: EmbeddingModel[] = [];
const { signal } = new AbortController();
setMaxListeners(0, signal);

afterEach(async () => {
  for (const model of open) await model.close();
  open = [];
  await api.close();
});

async function start(options: OpenAiOptions = {}): Promise<void> {
  api = await startOpenAi(options);
}

async function model(options: object = {}, clock: Clock = systemClock): Promise<EmbeddingModel> {
  const created = await createOpenAiModel({
    options: openAiOptions.parse({ url: api.url, model: 'small', ...options }),
    clock,
    chance: () => 0,
  });
  open.push(created);
  return created;
}

const texts = ['ants', 'bees build', 'cows chew grass'];
const items = texts.map((text) => ({ text }));
const rows = (vectors: readonly Float32Array[]) => vectors.map((vector) => [...vector]);
const expected = texts.map((text) => openAiVector(text));

async function embed(options: object = {}): Promise<number[][]> {
  return rows((await (await model(options)).embed(items, 'document', signal)).vectors);
}

async function failure(work: Promise<unknown>): Promise<MillraceError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(MillraceError);
  return error as MillraceError;
}

describe('the answer', () => {
  beforeEach(() => start());

  test('is asked for as floats where nothing else is said, never left to the service', async () => {
    await embed();
    expect(api.requests.map(({ body }) => body['encoding_format'])).toEqual(['float', 'float']);
  });

  test.each(['float', 'base64'] as const)('is asked for as %s, and understood', async (encoding) => {
    expect(await embed({ encoding })).toEqual(expected);
    expect(api.requests.at(-1)!.body).toEqual({ model: 'small', encoding_format: encoding, input: texts });
  });

  test.each(['float', 'base64'] as const)(
    'is taken for what it is when it comes as %s unasked',
    async (form) => {
      api.judge(() => ({ kind: 'form', form }));
      expect(await embed({ encoding: form === 'float' ? 'base64' : 'float' })).toEqual(expected);
    },
  );

  test('is paired by its indexes, not by its order', async () => {
    api.fail(undefined, { kind: 'shuffled' });
    expect(await embed()).toEqual(expected);
  });

  test('is paired by position only when no item has an index and none is missing', async () => {
    api.fail(undefined, { kind: 'no-index' }, { kind: 'no-index', drop: 1 });
    const small = await model();
    expect(rows((await small.embed(items, 'document', signal)).vectors)).toEqual(expected);
    expect((await failure(small.embed(items, 'document', signal))).code).toBe('embedding_invalid');
  });

  test.each([
    ['an index twice', { kind: 'index', index: 1 }],
    ['an index out of range', { kind: 'index', index: 3 }],
    ['a negative index', { kind: 'index', index: -1 }],
    ['an index that is no whole number', { kind: 'index', index: 0.5 }],
    ['an item without an index among others that have one', { kind: 'index', index: null }],
    ['a missing item', { kind: 'short' }],
  ] as const)('with %s is refused', async (_, fault) => {
    api.fail(undefined, fault);
    expect((await failure(embed())).code).toBe('embedding_invalid');
  });

  test('holds nulls as what is no number, never as 0', async () => {
    api.fail(undefined, { kind: 'ragged-nulls' });
    const vectors = await embed();
    expect(vectors[0]!.every(Number.isNaN)).toBe(true);
    expect(vectors[2]).toEqual(expected[2]);
  });

  test.each([
    ['text', '<html>Bad gateway</html>'],
    ['an error with status 200', '{"error":{"message":"model is loading"}}'],
    ['nothing', ''],
    ['null', 'null'],
  ])('that is %s is an outage when every answer is', async (_, body) => {
    const small = await model();
    api.judge(() => ({ kind: 'body', body }));
    expect((await failure(small.embed(items, 'document', signal))).code).toBe('remote_unavailable');
  });
});

describe('opening a model', () => {
  test('finds the width, and the settings decide the identity, the address does not', async () => {
    await start({ inputTypes: true });
    const one = await model();
    expect(one.identity).toMatchObject({ name: 'small', width: 8 });
    expect(one.maxTokens).toBe(510);
    const ids = [
      one,
      await model({ dimensions: 4 }),
      await model({ revision: '2' }),
      await model({ prompts: { document: 'passage: ' } }),
      await model({ inputType: { document: 'document', query: 'query' } }),
      await model({ model: 'large' }),
    ].map(({ identity }) => identityDigest(identity));
    expect(new Set(ids).size).toBe(ids.length);
    const other = await startOpenAi();
    expect(identityDigest((await model({ url: `${other.url}/`, timeoutMs: 5 * 1000 })).identity)).toBe(
      ids[0],
    );
    await other.close();
  });

  test('gives each role its prompt and its input type', async () => {
    await start({ inputTypes: true });
    const small = await model({
      prompts: { document: 'passage: ', query: 'query: ' },
      inputType: { document: 'search_document', query: 'search_query' },
    });
    await small.embed(items, 'query', signal);
    expect(api.requests.at(-1)!.body).toMatchObject({
      input_type: 'search_query',
      input: texts.map((text) => `query: ${text}`),
    });
    expect(small.maxTokens).toBe(512 - 2 - 'passage: '.length);
  });

  test('refuses another width than was asked for', async () => {
    await start();
    api.fail({ kind: 'width', width: 8 });
    expect((await failure(model({ dimensions: 4 }))).code).toBe('embedding_invalid');
  });

  test('waits a little for a service that is not up yet', async () => {
    await start();
    api.fail({ kind: 'status', status: 503 }, { kind: 'status', status: 503 });
    expect((await model()).identity.width).toBe(8);
  });

  test('fails at once when the key is refused, and neither error nor cause holds it', async () => {
    await start({ key: 'right' });
    const error = await failure(model({ apiKey: 'wrong-and-secret' }));
    expect(error.code).toBe('remote_refused');
    expect(error.message).toContain('401: Incorrect API key provided: Bearer ***');
    expect(error.hint).toContain('apiKey');
    expect(JSON.stringify([error.message, error.hint, String(error.cause)])).not.toContain(
      'wrong-and-secret',
    );
    expect((await model({ apiKey: 'right' })).identity.width).toBe(8);
    expect(api.requests).toHaveLength(1);
  });

  test('sends the query of its address with every call, and tells nobody', async () => {
    await start();
    const error = await failure(model({ url: `${api.url}?api-version=2&sig=secret` }));
    // The double knows no query: it refuses the path as it came.
    expect(error.message).toContain('/v1/embeddings?api-version=2');
    expect(error.message.replace(/Unknown request URL.*/, '')).not.toContain('secret');
  });

  test('sends the headers that it is told', async () => {
    await start();
    await model({ headers: { 'x-team': 'search' } });
    expect(api.requests[0]!.headers['x-team']).toBe('search');
  });

  test('refuses options that would put a secret into messages or a header that cannot be sent', () => {
    const issues = (options: object) =>
      openAiOptions.safeParse({ url: 'http://a/v1', model: 'small', ...options }).error?.issues.length ?? 0;
    expect(issues({})).toBe(0);
    expect(issues({ url: 'http://me:secret@a/v1' })).toBe(1);
    expect(issues({ url: 'file:///v1' })).toBe(1);
    expect(issues({ apiKey: 'two\nlines' })).toBe(1);
    expect(issues({ headers: { 'x-a': 'b\r\nc: d' } })).toBe(1);
  });
});

describe('a call that fails', () => {
  beforeEach(() => start());

  test.each([
    [400, undefined, 'inference_failed'],
    [422, undefined, 'inference_failed'],
    [401, undefined, 'remote_refused'],
    [403, undefined, 'remote_refused'],
    [404, undefined, 'remote_refused'],
    [307, undefined, 'remote_refused'],
    [429, undefined, 'rate_limited'],
    [429, 'insufficient_quota', 'remote_refused'],
  ] as const)(
    'with status %i and code %s is %s, with a bounded part of its body',
    async (status, code, wanted) => {
      const small = await model();
      api.fail({ kind: 'status', status, message: 'why '.repeat(1_500), ...(code && { code }) });
      const error = await failure(small.embed(items, 'document', signal));
      expect(error.code).toBe(wanted);
      expect(error.message).toContain('why why');
      expect(error.message.length).toBeLessThan(1_000);
    },
  );

  test.each([
    ['2', 2_000],
    ['0.5', 500],
    ['100000', 300_000],
    ['soon', undefined],
    [undefined, undefined],
  ] as const)('by 429 with Retry-After %s carries the time to wait', async (retryAfter, wanted) => {
    const small = await model();
    api.fail({ kind: 'status', status: 429, ...(retryAfter && { retryAfter }) });
    expect((await failure(small.embed(items, 'document', signal))).retryAfterMs).toBe(wanted);
  });

  test('by 429 with a date carries the time until then', async () => {
    const clock = new VirtualClock(Date.UTC(2030, 0, 1));
    const small = await model({}, clock);
    api.fail({ kind: 'status', status: 429, retryAfter: 'Tue, 01 Jan 2030 00:00:07 GMT' });
    expect((await failure(small.embed(items, 'document', signal))).retryAfterMs).toBe(7_000);
  });

  test('by 429 keeps the other calls of the lane back for as long', async () => {
    const clock = new VirtualClock();
    const small = await model({}, clock);
    api.fail({ kind: 'status', status: 429, retryAfter: '9' });
    await failure(small.embed(items, 'document', signal));
    const before = api.requests.length;
    const next = small.embed(items, 'document', signal);
    await clock.asleep();
    clock.advance(8_999);
    await new Promise(setImmediate);
    expect(api.requests).toHaveLength(before);
    clock.advance(1);
    expect(rows((await next).vectors)).toEqual(expected);
  });

  test.each([500, 502, 503])(
    'with %i is the fault of its texts when the service answers other calls',
    async (status) => {
      const small = await model();
      api.judge(({ texts: sent }) => (sent.includes('bees build') ? { kind: 'status', status } : undefined));
      expect((await failure(small.embed(items, 'document', signal))).code).toBe('inference_failed');
      expect((await failure(small.embed([items[1]!], 'document', signal))).code).toBe('remote_failed');
    },
  );

  test('with 500 is an outage when the service answers nothing, and then only the probe goes out', async () => {
    const small = await model();
    let down = true;
    api.judge(() => (down ? { kind: 'status', status: 500 } : undefined));
    const errors = await Promise.all(
      Array.from({ length: 4 }, () => failure(small.embed(items, 'document', signal))),
    );
    expect(errors.map(({ code }) => code)).toEqual(errors.map(() => 'remote_unavailable'));
    const before = api.requests.length;
    await failure(small.embed(items, 'document', signal));
    expect(api.requests.slice(before).map(({ texts: sent }) => sent)).toEqual([['word']]);
    down = false;
    expect(rows((await small.embed(items, 'document', signal)).vectors)).toEqual(expected);
  });

  test('with 503 is no fault of its texts where the service only says that it has had enough calls', async () => {
    const small = await model();
    api.judge(({ texts: sent }) =>
      sent[0] === 'word' ? { kind: 'status', status: 429 } : { kind: 'status', status: 503 },
    );
    expect((await failure(small.embed([items[0]!], 'document', signal))).code).toBe('remote_unavailable');
    api.judge(() => undefined);
    expect(rows((await small.embed(items, 'document', signal)).vectors)).toEqual(expected);
  });

  test('because nobody listens is an outage', async () => {
    const small = await model();
    await api.close();
    const error = await failure(small.embed(items, 'document', signal));
    expect(error.code).toBe('remote_unavailable');
    expect(error.cause).toBeDefined();
    expect(error.hint).toContain('url');
    await start();
  });

  test('because the connection breaks in the middle is told apart in the same way', async () => {
    const small = await model();
    api.fail({ kind: 'cut' });
    expect((await failure(small.embed([items[0]!], 'document', signal))).code).toBe('remote_failed');
    api.judge(() => ({ kind: 'cut' }));
    expect((await failure(small.embed(items, 'document', signal))).code).toBe('remote_unavailable');
  });

  test('by taking too long is cut off: the connection is closed', async () => {
    const clock = new VirtualClock();
    const small = await model({ timeoutMs: 30_000 }, clock);
    api.fail({ kind: 'hang' });
    const call = failure(small.embed([items[0]!], 'document', signal));
    while (api.requests.length < 2) await new Promise((done) => setTimeout(done, 5));
    clock.advance(30_000);
    expect((await call).message).toContain('did not answer within 30000 ms');
    while (api.aborted === 0) await new Promise((done) => setTimeout(done, 5));
    expect(clock.sleeping).toBe(0);
  });

  test('by the signal ends at once with its reason and closes the connection', async () => {
    const small = await model();
    api.fail({ kind: 'hang' });
    const stop = new AbortController();
    const call = small.embed(items, 'document', stop.signal);
    while (api.requests.length < 2) await new Promise((done) => setTimeout(done, 5));
    stop.abort(new Error('stop'));
    await expect(call).rejects.toThrow('stop');
    while (api.aborted === 0) await new Promise((done) => setTimeout(done, 5));
  });
});

describe('the size of calls', () => {
  test('keeps within the caps in texts and bytes', async () => {
    await start({ maxTexts: 5, maxBytes: 2_000 });
    const small = await model({ maxBatch: { texts: 5, bytes: 2_000 } });
    const many = Array.from({ length: 23 }, (_, at) => ({ text: `${at} ${'word '.repeat(at * 8)}` }));
    const { vectors } = await small.embed(many, 'document', signal);
    expect(rows(vectors)).toEqual(many.map(({ text }) => openAiVector(text)));
    const sizes = api.requests.map(({ bytes }) => bytes);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2_000);
  });

  test('is halved until it fits when the service says that it is too large, and stays so', async () => {
    await start({ maxBytes: 3_000 });
    const small = await model();
    const many = Array.from({ length: 40 }, (_, at) => ({ text: `${at} ${'word '.repeat(50)}` }));
    for (const round of [1, 2]) {
      const { vectors } = await small.embed(many, 'document', signal);
      expect(rows(vectors), `round ${round}`).toEqual(many.map(({ text }) => openAiVector(text)));
    }
    const huge = await failure(small.embed([{ text: 'x'.repeat(4_000) }], 'document', signal));
    expect(huge.code).toBe('item_too_large');
  });

  test('keeps within calls at once', async () => {
    await start({ delayMs: 20 });
    const small = await model({ concurrency: 3 });
    await Promise.all(Array.from({ length: 12 }, () => small.embed(items, 'document', signal)));
    expect(api.mostOpen).toBe(3);
  });

  test('keeps within requests and tokens a minute', async () => {
    await start();
    const clock = new VirtualClock(0);
    const small = await model({ rpm: 3, timeoutMs: 3_600_000, concurrency: 10 }, clock);
    let done = 0;
    const calls = Array.from({ length: 4 }, () =>
      small.embed(items, 'document', signal).then(() => (done += 1)),
    );
    while (done < 2) await new Promise((settled) => setTimeout(settled, 5));
    expect(api.requests).toHaveLength(3);
    while (clock.sleeping !== 1) await new Promise((settled) => setTimeout(settled, 5));
    clock.advance(60_000);
    await Promise.all(calls);
    expect(api.requests).toHaveLength(5);
  });

  test('is kept without holding on to a caller that leaves while it waits for its turn', async () => {
    await start();
    const small = await model({ concurrency: 1 });
    api.fail({ kind: 'hang' });
    const leave = new AbortController();
    const first = failure(small.embed(items, 'document'));
    while (api.requests.length < 2) await new Promise((done) => setTimeout(done, 5));
    const second = small.embed(items, 'document', leave.signal);
    leave.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    await small.close();
    expect((await first).code).toBe('aborted');
    expect(api.requests).toHaveLength(2);
  });

  test('do not outlive their model: one that waits for its turn ends when it is closed', async () => {
    await start();
    const clock = new VirtualClock(0);
    const small = await model({ rpm: 1 }, clock);
    const waiting = [1, 2].map(() => failure(small.embed(items, 'document', signal)));
    await clock.asleep();
    await small.close();
    for (const call of waiting) expect((await call).code).toBe('aborted');
    expect(clock.sleeping).toBe(0);
  });
});
