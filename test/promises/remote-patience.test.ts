import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PipelineInput } from '../../src/config/schema.js';
import type { Clock } from '../../src/contracts/context.js';
import type { Delivery, Source } from '../../src/contracts/source.js';
import type { RunEvent } from '../../src/observability/events.js';
import { createHealth } from '../../src/observability/health.js';
import { systemClock } from '../../src/flow/system-clock.js';
import { startOpenAi, type OpenAiDouble } from '../support/openai.js';
import { patience } from '../suites/store-harness.js';
import { document, logOf, outcomes, usePglite, type Log } from './bed.js';

const openBed = usePglite();
const answerMs = 400;
const endMs = 3_600_000;
let api: OpenAiDouble;
beforeEach(async () => {
  api = await startOpenAi({ delayMs: answerMs });
});
afterEach(() => api.close());

const input = (openai: object = {}): Partial<PipelineInput> => ({
  chain: [
    { chunk: { markdown: {} } },
    { embed: { openai: { url: api.url, model: 'small', timeoutMs: endMs, ...openai } } },
  ],
});

/** A time in which every wait is over at once, but for the ends of calls, which are an hour away. */
function skipping(): Clock {
  let skipped = 0;
  return {
    now: () => Date.now() + skipped,
    sleep: async (ms, signal) => {
      if (ms >= endMs) return systemClock.sleep(ms, signal);
      await systemClock.sleep(1, signal);
      skipped += ms;
    },
  };
}

const ten = (from = 0) =>
  Array.from({ length: 10 - from }, (_, at) => document(`d${at + from}`, 1, `Document number ${at + from}.`));

/** Ten documents: the last nine come while the call of the first is under way, and wait for more in their call. */
function inPart(onLast: () => void): Log {
  const log = logOf([document('d0', 1, 'Document number 0.')], ten(1));
  const source: Source['deliveries'] = async function* (context): AsyncGenerator<Delivery> {
    // Opening the model asked for one word.
    const before = api.requests.length;
    for await (const delivery of log.deliveries(context)) {
      yield delivery;
      while (api.requests.length === before) await systemClock.sleep(5, context.signal);
    }
    onLast();
  };
  return { ...log, deliveries: source };
}

test(
  'a call that waits for more texts goes at once at a drain, and nothing of it is lost',
  { timeout: patience },
  async () => {
    const bed = await openBed();
    const drain = new AbortController();
    const log = inPart(() => drain.abort());
    const openai = { maxWaitMs: 60_000, maxBatch: { texts: 64 } };
    const summary = await bed.run({ source: log, input: input(openai), signal: drain.signal });
    expect(summary.outcomes).toMatchObject({ stored: 10, failed: 0 });
    expect(outcomes(log)).toEqual(Array.from({ length: 10 }, () => 'stored'));
    // One of them to open the model.
    expect(api.requests.flatMap(({ texts }) => texts)).toHaveLength(11);
  },
);

test(
  'of a call that waits for more texts nothing is settled at an abort, and all of it comes again',
  { timeout: patience },
  async () => {
    const bed = await openBed();
    const abort = new AbortController();
    const log = inPart(() => abort.abort());
    // The call of the first, after the one that opens the model, is never answered: none of the ten is through before.
    api.fail(undefined, { kind: 'hang' });
    const openai = { maxWaitMs: 60_000, maxBatch: { texts: 64 } };
    expect(await bed.run({ source: log, input: input(openai), abort: abort.signal })).toMatchObject({
      end: 'aborted',
      outcomes: { stored: 0, failed: 0 },
    });
    expect(log.settled.size).toBe(0);
    const again = logOf(ten());
    expect((await bed.run({ source: again, input: input(openai) })).outcomes).toMatchObject({ stored: 10 });
  },
);

test(
  'a service that answers 429 for ever is asked ever more rarely, told of once a wait, and health names it',
  { timeout: patience },
  async () => {
    const bed = await openBed();
    let opened = false;
    api.judge(() => {
      if (opened) return { kind: 'status', status: 429 };
      opened = true;
      return undefined;
    });
    const abort = new AbortController();
    const health = createHealth();
    const waits: Extract<RunEvent, { type: 'retry' }>[] = [];
    const others: string[] = [];
    let red: readonly string[] = [];
    const log = logOf(ten());
    const summary = await bed.run({
      ...{ source: log, input: input({ concurrency: 1 }), abort: abort.signal, clock: skipping() },
      onEvent: (event) => {
        health.see(event);
        if (event.type !== 'retry') return void others.push(event.type);
        waits.push(event);
        if (waits.length < 12) return;
        red = health.state().reasons;
        abort.abort();
      },
    });
    expect(summary).toMatchObject({ end: 'aborted', outcomes: { failed: 0, stored: 0 } });
    expect(log.settled.size).toBe(0);
    expect(red).toEqual([expect.stringMatching(/is away \(rate_limited\)/)]);
    expect(waits.every(({ pausing, error }) => pausing && error.code === 'rate_limited')).toBe(true);
    // Ten documents, one line a wait.
    expect(others.slice(others.indexOf('started')).filter((type) => type !== 'batch')).toEqual([
      'started',
      'finished',
    ]);
    const [early, late] = [waits.slice(0, 3), waits.slice(-3)].map((some) =>
      Math.max(...some.map(({ delayMs }) => delayMs)),
    );
    expect(late).toBeGreaterThan(8 * early!);
    expect(await bed.failed()).toEqual([]);
    api.judge(() => undefined);
    expect((await bed.run({ source: logOf(ten()), input: input() })).outcomes).toMatchObject({ stored: 10 });
  },
);

test(
  'a service whose name nobody knows ends the start, with the name, and nothing is a failed element',
  { timeout: patience },
  async () => {
    const bed = await openBed();
    const log = logOf(ten());
    await expect(
      bed.run({ source: log, input: input({ url: 'http://embeddings.invalid/v1' }), clock: skipping() }),
    ).rejects.toMatchObject({
      code: 'remote_unavailable',
      message: expect.stringContaining('embeddings.invalid'),
    });
    expect(log.settled.size).toBe(0);
    expect(await bed.failed()).toEqual([]);
  },
);
