import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createPgliteStore } from '../../connectors/postgres/pglite-store.js';
import { pgliteConfig } from '../../connectors/postgres/config.js';
import type { RunEvent } from '../../src/observability/events.js';
import { fillGeneration } from '../../src/runtime/generations/fill.js';
import { layout, storing } from '../suites/store-samples.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testContext } from '../support/test-context.js';
import { VirtualClock } from '../support/virtual-clock.js';

test('a filling tells after its first seconds, and every minute, how fast it is and when it will be ready', async () => {
  const folder = await temporaryFolder();
  const config = pgliteConfig.parse({ path: join(folder, 'store') });
  const store = await createPgliteStore(config, testContext('fill', folder));
  try {
    await store.prepare(layout);
    await store.sink.write(Array.from({ length: 640 }, (_, at) => storing(`d${at}`, 1, [`text ${at}`])));
    const generations = store.generations!;
    const number = await generations.start(layout, { made: 'by a test' });
    const clock = new VirtualClock();
    const events: RunEvent[] = [];
    const { signal } = new AbortController();
    const summary = await fillGeneration({
      ...{ generations, number, clock, signal, draining: signal },
      report: (event) => events.push(event),
      // A batch of 64 takes 16 seconds.
      works: async (ids) => {
        clock.advance(16_000);
        return ids.map((documentId) => ({
          ...{ documentId, characters: 1, trace: { stage: 'embed' as const } },
          takeOver: () => Promise.resolve(1),
        }));
      },
    });
    expect(summary).toMatchObject({ documents: 640, embedded: 640 });
    const told = events.filter((event) => event.type === 'filling');
    // 160 seconds in all.
    expect(told.length).toBeGreaterThanOrEqual(2);
    expect(told.length).toBeLessThanOrEqual(3);
    for (const { generation, documents, left, perSecond, etaMs } of told) {
      expect([generation, etaMs]).toEqual([number, Math.round((left * 1_000) / perSecond)]);
      expect(documents + left).toBeLessThanOrEqual(640);
      expect(perSecond).toBeGreaterThan(0);
      expect(perSecond).toBeLessThanOrEqual(4.01);
    }
  } finally {
    await store.close();
  }
}, 60_000);

test('a filling at a rate takes documents evenly, never many at once', async () => {
  const folder = await temporaryFolder();
  const config = pgliteConfig.parse({ path: join(folder, 'store') });
  const store = await createPgliteStore(config, testContext('fill', folder));
  try {
    await store.prepare(layout);
    await store.sink.write(Array.from({ length: 150 }, (_, at) => storing(`d${at}`, 1, [`text ${at}`])));
    const generations = store.generations!;
    const number = await generations.start(layout, { made: 'by a test' });
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    const began = clock.now();
    let [taken, mostAhead, over] = [0, 0, false];
    const rate = 60;
    const filling = fillGeneration({
      ...{ generations, number, rate, clock, signal, draining: signal },
      report: () => undefined,
      works: (ids) => {
        taken += ids.length;
        mostAhead = Math.max(mostAhead, taken - (rate * (clock.now() - began)) / 1_000);
        return Promise.resolve(
          ids.map((documentId) => ({
            ...{ documentId, characters: 1, trace: { stage: 'embed' as const } },
            takeOver: () => Promise.resolve(1),
          })),
        );
      },
    }).finally(() => (over = true));
    while (!over) {
      await Promise.race([filling, clock.asleep()]);
      if (clock.nextWake !== undefined) clock.advance(clock.nextWake - clock.now());
    }
    expect(await filling).toMatchObject({ documents: 150 });
    // Half a second's worth.
    expect(mostAhead).toBeLessThanOrEqual(rate / 2);
    expect(clock.now() - began).toBeGreaterThan(2_000);
  } finally {
    await store.close();
  }
}, 60_000);
