import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { startPostgresDriver } from './postgres-driver.js';
import { torture } from './torture.js';

// The long form is `npm run torture -- postgres`.
test(
  'a table read by daemons that are killed, over connections that break, ends in a store equal to it',
  { timeout: 240_000 },
  async () => {
    const said: string[] = [];
    const { differences, faulty, kills, documents } = await torture({
      startDriver: startPostgresDriver,
      folder: await temporaryFolder(),
      ...{ operations: 1_500, seed: 5, ms: 10_000, faults: 20 },
      say: (line) => said.push(line),
    });
    expect([...differences, ...faulty], said.join('\n')).toEqual([]);
    expect(kills).toBe(10);
    expect(documents).toBeGreaterThan(100);
  },
);
