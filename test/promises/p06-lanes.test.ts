import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { PipelineInput } from '../../src/config/schema.js';
import { createDocument } from '../../src/elements/document.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { RunEvent } from '../../src/observability/events.js';
import { ownEmbedding } from '../support/own-embedding.js';
import { VirtualClock } from '../support/virtual-clock.js';
import { logOf, outcomes, usePglite, version } from './bed.js';

const openBed = usePglite();

/** A gate that a test opens: whoever waits at it goes on then. */
function latch() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/** Documents of two routes in turn. */
function mixed(count: number) {
  return Array.from({ length: count }, (_, n) =>
    createDocument({
      id: `${n % 2 === 0 ? 'fast' : 'slow'}-${n}`,
      text: `page ${n}`,
      metadata: { lane: n % 2 === 0 ? 'fast' : 'slow' },
      version: version(1),
    }),
  );
}

function chainWith(slow: Parameters<typeof ownEmbedding>[0]['before']): Partial<PipelineInput> {
  return {
    chain: [
      { chunk: { markdown: {} } },
      {
        embed: {
          route: 'metadata.lane',
          models: {
            fast: { own: ownEmbedding({ name: 'fast' }) },
            slow: { own: ownEmbedding({ name: 'slow', ...(slow && { before: slow }) }) },
          },
        },
      },
    ],
    limits: { elements: 40 },
  };
}

/** What is settled once twenty are, and for half a second nothing more was. */
async function atRest(settled: () => readonly string[]): Promise<readonly string[]> {
  await expect.poll(() => settled().length).toBeGreaterThanOrEqual(20);
  for (let before = 0; before < settled().length; await sleep(500)) before = settled().length;
  return settled();
}

test('a lane that hangs holds up nobody until its share is full; then the source pauses and the lane is named', async () => {
  const bed = await openBed();
  const hanging = latch();
  const events: RunEvent[] = [];
  const clock = new VirtualClock();
  const log = logOf(...mixed(200).map((one) => [one]));
  const running = bed.run({
    source: log,
    clock,
    input: chainWith(() => hanging.opened),
    onEvent: (event) => events.push(event),
  });
  const settled = () => events.flatMap((one) => (one.type === 'settled' ? [one.documentId] : []));
  // Twenty slow ones wait; every fast one that came among them, or before the next slow one, is through.
  const through = await atRest(settled);
  expect(through.length).toBeLessThanOrEqual(21);
  expect(through.every((id) => id.startsWith('fast-'))).toBe(true);
  clock.advance(5_000);
  await new Promise(setImmediate);
  expect(events.filter(({ type }) => type === 'lane-full')).toEqual([
    { type: 'lane-full', lane: 'embed:slow', documents: 20 },
  ]);
  // Nothing more was let in meanwhile.
  expect(settled()).toEqual(through);
  expect(log.settled.size).toBe(through.length);

  hanging.open();
  const summary = await running;
  expect(summary.outcomes).toMatchObject({ stored: 200, failed: 0 });
  expect(events).toContainEqual({ type: 'lane-free', lane: 'embed:slow' });
});

test('an outage of one lane is waited out while the other goes on, and a failure says its route', async () => {
  const bed = await openBed();
  let calls = 0;
  const events: RunEvent[] = [];
  const settled = () => events.flatMap((one) => (one.type === 'settled' ? [one.documentId] : []));
  const log = logOf(mixed(10));
  const clock = new VirtualClock();
  const running = bed.run({
    source: log,
    clock,
    input: chainWith((texts) => {
      calls += 1;
      if (calls === 1) throw new MillraceError('remote_unavailable', 'The endpoint does not answer.');
      if (texts.some(({ text }) => text === 'page 3'))
        throw new MillraceError('inference_failed', 'It cannot read this page.');
    }),
    onEvent: (event) => events.push(event),
  });
  // The time of the next try does not come before.
  await expect.poll(() => settled().length).toBe(5);
  expect(settled().every((id) => id.startsWith('fast-'))).toBe(true);
  await expect.poll(() => (clock.advance(1_000), settled().length)).toBe(10);
  await running;
  expect(outcomes(log).filter((kind) => kind === 'stored')).toHaveLength(9);
  const [record, ...more] = await bed.failed();
  expect(more).toEqual([]);
  expect(record).toMatchObject({ documentId: 'slow-3', stage: 'embed', route: 'slow' });
  expect(record!.model).toMatch(/^[0-9a-f]{32}$/);
  const retried = events.flatMap((event) => (event.type === 'retry' ? [event.lane] : []));
  expect(new Set(retried)).toEqual(new Set(['embed:slow']));
});

test('a slow model of a routed infer step holds up only its own documents', async () => {
  const bed = await openBed();
  const hanging = latch();
  const events: RunEvent[] = [];
  const clock = new VirtualClock();
  const running = bed.run({
    clock,
    source: logOf(...mixed(120).map((one) => [one])),
    input: {
      chain: [
        {
          infer: {
            name: 'label',
            to: 'metadata.label',
            route: 'metadata.lane',
            models: {
              fast: { own: { modelId: 'fast@1', run: async (items) => items.map(() => 'quick') } },
              slow: {
                own: {
                  modelId: 'slow@1',
                  run: async (items) => {
                    await hanging.opened;
                    return items.map(() => 'late');
                  },
                },
              },
            },
          },
        },
        { chunk: { markdown: {} } },
        { embed: { static: { model: 'bundled' } } },
      ],
      limits: { elements: 40 },
    },
    onEvent: (event) => events.push(event),
  });
  const settled = () => events.flatMap((event) => (event.type === 'settled' ? [event.documentId] : []));
  await atRest(settled);
  clock.advance(5_000);
  await new Promise(setImmediate);
  expect(settled().every((id) => id.startsWith('fast-'))).toBe(true);
  expect(events).toContainEqual({ type: 'lane-full', lane: 'label:slow', documents: 20 });
  hanging.open();
  expect((await running).outcomes).toMatchObject({ stored: 120 });
});
