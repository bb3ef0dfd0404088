import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { GenerationStore } from './generation-store.js';
import { tortureGenerations } from './generations.js';
import { startPostgresGenerations } from './postgres-generation-store.js';
import { startQdrantGenerations } from './qdrant-generation-store.js';

const stores: { readonly [name: string]: () => Promise<GenerationStore> } = {
  postgres: startPostgresGenerations,
  qdrant: startQdrantGenerations,
};

/** `npm run torture -- generations --store postgres|qdrant [--chunks 100000 --seed 1 --changes 100 --change chunks --from-source]`. @returns an exit code */
export async function generationsCommand(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      store: { type: 'string' },
      chunks: { type: 'string', default: '100000' },
      seed: { type: 'string' },
      changes: { type: 'string', default: '100' },
      change: { type: 'string', default: 'model' },
      'from-source': { type: 'boolean', default: false },
    },
  });
  const startStore = stores[values.store ?? ''];
  const fromSource = values['from-source'];
  const change = values.change === 'model' || values.change === 'chunks' ? values.change : undefined;
  const [chunks, changesASecond] = [Number(values.chunks), Number(values.changes)];
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
  if (
    startStore === undefined ||
    change === undefined ||
    ![chunks, changesASecond, seed].every((number) => number >= 0)
  ) {
    console.error(
      `npm run torture -- generations --store ${Object.keys(stores).join('|')} [--chunks 100000] [--seed 1] [--changes 100] [--change model|chunks] [--from-source]`,
    );
    return 2;
  }
  const folder = await mkdtemp(join(tmpdir(), 'millrace-torture-'));
  try {
    const again = `--store ${values.store} --chunks ${chunks} --changes ${changesASecond} --change ${change} --seed ${seed}${fromSource ? ' --from-source' : ''}`;
    console.log(again);
    const began = Date.now();
    const { faults, ...verdict } = await tortureGenerations({
      ...{ startStore, folder, chunks, changesASecond, seed, change, fromSource },
      say: (line) => console.log(`${((Date.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${line}`),
    });
    console.log(JSON.stringify(verdict));
    for (const line of faults.slice(0, 40)) console.log(`FAIL ${line}`);
    if (faults.length > 0) console.log(`Again: npm run torture -- generations ${again}`);
    else console.log('0 differences, every answer of one generation');
    return faults.length > 0 ? 1 : 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
