import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PipelineInput } from '../../src/config/schema.js';
import type { Clock } from '../../src/contracts/context.js';
import { systemClock } from '../../src/flow/system-clock.js';
import type { RunEvent } from '../../src/observability/events.js';
import { startOpenAi, type OpenAiDouble } from '../support/openai.js';
import { usePglite, type Bed } from './bed.js';

const newBed = usePglite();
let bed: Bed;
let api: OpenAiDouble;
let events: RunEvent[];

beforeEach(async () => {
  bed = await newBed();
  api = await startOpenAi();
  events = [];
});
afterEach(() => api.close());

/** A time in which every wait is a fiftieth, but for the ends of calls, which are an hour away. */
const hasty = (): Clock => {
  let skipped = 0;
  return {
    now: () => Date.now() + skipped,
    sleep: async (ms, signal) => {
      if (ms >= 3_600_000) return systemClock.sleep(ms, signal);
      await systemClock.sleep(ms / 50, signal);
      skipped += ms - ms / 50;
    },
  };
};

const input = (openai: object = {}): Partial<PipelineInput> => ({
  chain: [
    { chunk: { markdown: {} } },
    { embed: { openai: { url: api.url, model: 'small', timeoutMs: 3_600_000, ...openai } } },
  ],
});

const run = (openai: object = {}, clock = hasty()) =>
  bed.run({ input: input(openai), clock, onEvent: (event) => events.push(event) });

const files = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`docs/${at}.md`, `Document number ${at}.`]));

describe('a pipeline with a remote model', () => {
  test('fills a store and answers from it; a second run asks for nothing', async () => {
    await bed.write(files(20));
    expect(await run()).toMatchObject({ embedded: 20, end: 'complete' });
    const before = api.requests.length;
    expect(await run()).toMatchObject({ embedded: 0 });
    // Opening the model asks for one word.
    expect(api.requests).toHaveLength(before + 1);
    const retriever = await bed.retriever(input());
    const [hit] = await retriever.retrieve('Document number 7.', { k: 1 });
    expect(hit!.documentId).toBe('docs/7.md');
    await retriever.close();
  });

  test('a blank document is never sent and moves no vector to a neighbour', async () => {
    await bed.write({ 'docs/a.md': 'ants', 'docs/b.md': '   ', 'docs/c.md': 'bees', 'docs/d.md': 'cows' });
    await run();
    expect(api.requests.flatMap(({ texts }) => texts).some((text) => text.trim() === '')).toBe(false);
    const retriever = await bed.retriever(input());
    const hits = await retriever.retrieve('bees', { k: 1 });
    expect(hits[0]).toMatchObject({ documentId: 'docs/c.md', score: expect.closeTo(1, 5) });
    await retriever.close();
  });

  test('one poisoned document in the first batch fails alone, on the first run, whatever error it causes', async () => {
    await bed.write({ ...files(300), 'docs/0.md': 'This is poison.' });
    for (const status of [400, 500]) {
      api.judge(({ texts }) =>
        texts.some((text) => text.includes('poison'))
          ? { kind: 'status', status, message: 'bad word' }
          : undefined,
      );
      const { outcomes } = await run({ revision: `${status}` });
      expect(outcomes, `${status}`).toMatchObject({ failed: 1, stored: 299 });
      const [record] = await bed.failed();
      expect(record).toMatchObject({ documentId: 'docs/0.md', stage: 'embed' });
      expect(record!.error.message).toContain('bad word');
      bed = await newBed();
      await bed.write({ ...files(300), 'docs/0.md': 'This is poison.' });
    }
  });

  test('an outage is waited out and loses nothing', async () => {
    await bed.write(files(40));
    let asked = 0;
    api.judge(() => {
      asked += 1;
      return asked > 1 && asked < 9 ? { kind: 'status', status: 503 } : undefined;
    });
    expect((await run()).outcomes).toMatchObject({ stored: 40, failed: 0 });
    expect(events.some((event) => event.type === 'retry' && event.pausing)).toBe(true);
    expect(events.some((event) => event.type === 'recovered')).toBe(true);
  });

  test.each([
    { told: 'seconds', after: () => '2', least: 2_000 },
    { told: 'a date', after: () => new Date(Date.now() + 20_000).toUTCString(), least: 10_000 },
    { told: 'nothing', after: (): string | undefined => undefined, least: 200 },
  ])('three times 429 with $told to wait for are waited out, no record lost', async ({ after, least }) => {
    const retryAfter = after();
    await bed.write(files(40));
    const fault = { kind: 'status', status: 429, ...(retryAfter !== undefined && { retryAfter }) } as const;
    api.fail(undefined, fault, fault, fault);
    expect((await run({ concurrency: 1 })).outcomes).toMatchObject({ stored: 40, failed: 0 });
    const waits = events.flatMap((event) => (event.type === 'retry' ? [event] : []));
    expect(waits.map(({ error }) => error.code)).toEqual(['rate_limited', 'rate_limited', 'rate_limited']);
    expect(waits[0]!.delayMs).toBeGreaterThanOrEqual(least);
  });

  test('a refused key stops the lane until it is mended: nothing fails, nothing is lost', async () => {
    await bed.write(files(10));
    let refused = 0;
    let opened = false;
    api.judge(() => {
      if (!opened) opened = true;
      else if (refused < 3) {
        refused += 1;
        return { kind: 'status', status: 401, message: 'key revoked' };
      }
      return undefined;
    });
    expect((await run()).outcomes).toMatchObject({ stored: 10, failed: 0 });
    const retries = events.flatMap((event) => (event.type === 'retry' ? [event] : []));
    expect(retries[0]).toMatchObject({ pausing: true, error: { code: 'remote_refused' } });
    expect(retries[0]!.error.hint).toContain('apiKey');
  });

  test('nulls for all but the longest text of a batch: each text is asked for again alone', async () => {
    await bed.write(files(120));
    api.judge(() => ({ kind: 'ragged-nulls' }));
    expect((await run()).outcomes).toMatchObject({ stored: 120, failed: 0 });
    expect(api.mostOpen).toBeLessThanOrEqual(4);
  });

  test('a vector that begins or ends with 0 is as good as any', async () => {
    await bed.write(files(4));
    for (const at of [0, 7]) {
      api.judge(() => ({ kind: 'component', at, value: 0 }));
      expect((await run({ revision: `${at}` })).outcomes).toMatchObject({ stored: 4, failed: 0 });
      bed = await newBed();
      await bed.write(files(4));
    }
  });

  test('a document over what the provider takes fails alone', async () => {
    await api.close();
    api = await startOpenAi({ maxBytes: 20_000 });
    await bed.write({ ...files(200), 'docs/0.md': 'word '.repeat(6_000) });
    const big = { maxTokens: 40_000, timeoutMs: 3_600_000 };
    const outcomes = await bed.run({
      input: {
        chain: [
          { chunk: { recursive: { maxTokens: 8_000 } } },
          { embed: { openai: { url: api.url, model: 'small', ...big } } },
        ],
      },
      clock: hasty(),
    });
    expect(outcomes.outcomes).toMatchObject({ failed: 1, stored: 199 });
    expect((await bed.failed())[0]).toMatchObject({
      documentId: 'docs/0.md',
      error: { code: 'item_too_large' },
    });
  });

  test('the key is neither in the store, nor in failed elements, nor in events', async () => {
    await api.close();
    api = await startOpenAi({ key: 'sk-very-secret' });
    await bed.write(files(3));
    api.fail(undefined, { kind: 'status', status: 400, message: 'you sent sk-very-secret' });
    api.judge(() => ({ kind: 'status', status: 400, message: 'you sent sk-very-secret' }));
    await run({ apiKey: 'sk-very-secret', headers: { 'x-key': 'other-secret' } });
    const seen = JSON.stringify([
      await bed.failed(),
      events.map((event) => ({ ...event, error: 'error' in event ? event.error.message : '' })),
      await bed.content(),
    ]);
    expect(seen).toContain('you sent ***');
    expect(seen).not.toMatch(/very-secret|other-secret/);
  });

  test('no chunk has more bytes than the model reads tokens when its tokenizer is not known', async () => {
    await bed.write({ 'docs/a.md': 'Viele Wörter über große Mühlräder. '.repeat(200) + '漢字'.repeat(400) });
    await run({ maxTokens: 300 });
    const sizes = (await bed.texts('docs/a.md')).map((text) => Buffer.byteLength(text));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(298);
    expect(sizes.length).toBeLessThan(60);
  });
});
