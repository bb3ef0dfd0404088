import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { tortureBackfill } from './torture-backfill.js';

// The long form, a million rows, is `npm run torture -- backfill`.
test(
  'a table that is written to is read through two kills, goes on where it was, and ends in a store equal to it',
  { timeout: 240_000 },
  async () => {
    const said: string[] = [];
    const result = await tortureBackfill({
      folder: await temporaryFolder(),
      ...{ rows: 2_000, seed: 3, changesPerSecond: 50, lookMs: 20, batch: 50, storeDelayMs: 6 },
      limits: { elements: 100 },
      say: (line) => said.push(line),
    });
    expect(result.differences, said.join('\n')).toEqual([]);
    expect(result.changes).toBeGreaterThan(100);
    const [first, second] = result.killedAt;
    expect(second).toBeGreaterThan(first!);
    // It went on from there, but for what was under way.
    expect(result.readAgain).toBeLessThan(second! / 2);
  },
);
