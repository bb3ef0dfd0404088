import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { tortureGenerations } from './generations.js';
import { startPostgresGenerations } from './postgres-generation-store.js';
import { startQdrantGenerations } from './qdrant-generation-store.js';

// The long form, 100,000 chunks, is `npm run torture -- generations --store qdrant`.
test.each([
  ['a new model', 'Postgres', startPostgresGenerations, false],
  ['a new model with smaller chunks, read from the stream,', 'Postgres', startPostgresGenerations, true],
  ['a new model', 'Qdrant', startQdrantGenerations, false],
  ['a new model with smaller chunks, read from the stream,', 'Qdrant', startQdrantGenerations, true],
])(
  '%s is switched to on %s under live changes and kills, and each answer is of one generation',
  { timeout: 600_000 },
  async (_, __, startStore, fromSource) => {
    const said: string[] = [];
    const { faults, ...verdict } = await tortureGenerations({
      ...{ startStore, fromSource, folder: await temporaryFolder(), seed: 11 },
      ...{ chunks: 1_000, changesASecond: 20, rate: 60 },
      say: (line) => said.push(line),
    });
    expect(faults, said.join('\n')).toEqual([]);
    expect(verdict.kills).toBe(5);
    expect(verdict.states).toEqual(['retired', 'active']);
    expect(verdict.changes).toBeGreaterThan(50);
    expect(verdict.answers).toBeGreaterThan(20);
    expect(verdict.overlap).toBeGreaterThan(0.2);
  },
);
