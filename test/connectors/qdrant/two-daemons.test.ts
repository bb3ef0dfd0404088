import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { qdrantConfig } from '../../../connectors/qdrant/config.js';
import { createQdrantStore } from '../../../connectors/qdrant/qdrant-store.js';
import { readFilter } from '../../../src/elements/filter/read-filter.js';
import { millrace, startMillrace } from '../../support/millrace-process.js';
import { seededRandom } from '../../support/seeded-random.js';
import { startQdrant, type QdrantDouble } from '../../support/qdrant/start.js';
import { startRedis, type RedisService } from '../../support/services/redis.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { testContext } from '../../support/test-context.js';

let redis: RedisService;
let double: QdrantDouble;
beforeAll(async () => {
  [redis, double] = await Promise.all([startRedis(), startQdrant({ delayMs: 2 })]);
});
afterAll(() => Promise.all([redis.stop(), double.close()]));

test(
  'two daemons of one stream, killed again and again, end at the newest of each document',
  { timeout: 120_000 },
  async () => {
    const folder = await temporaryFolder();
    const config = join(folder, 'millrace.json');
    await writeFile(
      config,
      JSON.stringify({
        name: 'race',
        source: {
          redis: { url: redis.url, stream: 'race', claimIdleMs: 500, count: 16, maxDeliveries: 1000 },
        },
        sink: { qdrant: { url: double.url } },
        workers: 1,
      }),
    );
    const random = seededRandom(3);
    const newest = new Map<string, string | undefined>();
    let written = 0;
    const write = async (count: number) => {
      for (; count > 0; count -= 1) {
        const id = `d${Math.floor(random() * 12)}`;
        const text = random() < 0.2 ? undefined : `Version ${(written += 1)} of ${id}.`;
        newest.set(id, text);
        await redis.client.xadd(
          'race',
          '*',
          'id',
          id,
          ...(text === undefined ? ['op', 'delete'] : ['text', text]),
        );
      }
    };
    await write(40);
    let daemons = [startMillrace(['run', config]), startMillrace(['run', config])];
    for (let kill = 0; kill < 4; kill += 1) {
      await delay(400 + random() * 800);
      await write(40);
      await delay(random() * 100);
      const [victim, ...others] = daemons;
      victim!.child.kill('SIGKILL');
      await victim!.ended;
      daemons = [...others, startMillrace(['run', config])];
    }
    await write(40);
    const last = await millrace(['run', config, '--until-idle']);
    expect(last.code, last.stderr).toBe(0);
    // Before that a signal just ends them.
    await Promise.all(daemons.map((one) => one.says('"type":"started"')));
    for (const { child } of daemons) child.kill('SIGTERM');
    for (const { ended } of daemons) expect(await ended).toMatchObject({ code: 0 });

    const store = await createQdrantStore(qdrantConfig.parse({ url: double.url }), testContext('race'));
    const vector = new Float32Array(256).fill(1);
    for (const [id, text] of newest) {
      const [entry] = (await store.sink.ledger([id])).values();
      expect(entry?.state).toBe(text === undefined ? 'deleted' : 'stored');
    }
    const hits = await store.search.search({ space: '*', vector, k: 1000, filter: readFilter(undefined) });
    const texts = hits.map(({ text }) => text).sort();
    expect(texts).toEqual([...newest.values()].filter((text) => text !== undefined).sort());
    expect((await store.count()).chunks).toBe(texts.length);
  },
);
