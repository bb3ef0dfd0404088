import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { generationRounds } from './generation-rounds.js';

// The long form, 100,000 documents, is `npm run test:kill -- --generations`.
test.each([
  { what: 'a new model', fromSource: false },
  { what: 'a new model with another chunk size, read from the stream,', fromSource: true },
])(
  '$what fills a generation under live writes and kills, and answers are always of one of the two',
  { timeout: 300_000 },
  async ({ fromSource }) => {
    const said: string[] = [];
    const verdict = await generationRounds({
      folder: await temporaryFolder(),
      documents: 1_000,
      opsASecond: 200,
      kills: 2,
      seed: 11,
      fromSource,
      say: (line) => said.push(line),
    });
    const told = said.join('\n');
    expect(verdict.faults, told).toEqual([]);
    expect(verdict.differences, told).toEqual([]);
    expect(verdict.operations).toBeGreaterThan(100);
    expect(verdict.states).toEqual(['retired', 'active']);
    // One score by the old model, then one by the new, and never back.
    expect(verdict.scores).toHaveLength(2);
    expect(verdict.scores[0]).toBe(1);
    expect(verdict.switched).toContain('"overlap"');
  },
);
