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
      ...{ rows: 6_000, seed: 3, changesPerSecond: 100, lookMs: 20, batch: 50 },
      limits: { elements: 100 },
      say: (line) => said.push(line),
    });
    expect(result.differences, said.join('\n')).toEqual([]);
    expect(result.changes).toBeGreaterThan(100);
    const [first, second] = result.killedAt;
    expect(second).toBeGreaterThan(first!);
    // It read none again of what was durable.
    expect(result.readLast).toBeLessThanOrEqual(6_000 - second! + result.changes * 2);
  },
);
