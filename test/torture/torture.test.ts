import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { startPostgresDriver } from './postgres-driver.js';
import { startRedisDriver } from './redis-driver.js';
import { torture } from './torture.js';

// The long form, 200,000 operations in at least ten minutes, is `npm run torture -- redis`.
test(
  'a stream read by daemons that are killed, over connections that break, ends in a store equal to it',
  { timeout: 240_000 },
  async () => {
    const said: string[] = [];
    const { differences, faulty, kills, documents, failed } = await torture({
      startDriver: startRedisDriver,
      folder: await temporaryFolder(),
      ...{ operations: 3_000, seed: 7, ms: 15_000, faults: 20 },
      say: (line) => said.push(line),
    });
    expect([...differences, ...faulty], said.join('\n')).toEqual([]);
    expect(kills).toBe(10);
    expect(documents).toBeGreaterThan(100);
    expect(failed).toBeGreaterThan(0);
  },
);

test(
  'a table changed by overlapping transactions, followed by daemons that are killed, ends in a store equal to it',
  { timeout: 240_000 },
  async () => {
    const said: string[] = [];
    const { differences, faulty, kills, documents, failed } = await torture({
      startDriver: startPostgresDriver,
      folder: await temporaryFolder(),
      ...{ operations: 2_000, seed: 7, ms: 12_000, faults: 12 },
      say: (line) => said.push(line),
    });
    expect([...differences, ...faulty], said.join('\n')).toEqual([]);
    expect(kills).toBe(6);
    expect(documents).toBeGreaterThan(100);
    expect(failed).toBeGreaterThan(0);
  },
);
