/** `npm run torture -- redis|postgres [--ops 200000 --seed 1 --minutes 10 --faults 150]`: the long form of the torture test. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgresDriver } from './postgres-driver.js';
import { startRedisDriver } from './redis-driver.js';
import { torture, type TortureResult, type TortureRun } from './torture.js';

const tortures: { readonly [name: string]: (run: TortureRun) => Promise<TortureResult> } = {
  redis: (options) => torture({ ...options, startDriver: startRedisDriver }),
  postgres: (options) => torture({ ...options, startDriver: startPostgresDriver }),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ops: { type: 'string', default: '200000' },
    seed: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    faults: { type: 'string' },
  },
});
const run = tortures[positionals[0] ?? ''];
const [operations, minutes] = [Number(values.ops), Number(values.minutes)];
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
// One in 4 seconds.
const faults = values.faults === undefined ? Math.max(2, Math.round(minutes * 15)) : Number(values.faults);
if (run === undefined || ![operations, minutes, seed, faults].every((number) => number >= 0)) {
  console.error(
    `npm run torture -- ${Object.keys(tortures).join('|')} [--ops 200000] [--seed 1] [--minutes 10]`,
  );
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'millrace-torture-'));
try {
  console.log(`${operations} operations over ${minutes} minutes, ${faults} faults: --seed ${seed}`);
  const began = Date.now();
  const result = await run({
    ...{ folder, operations, seed, faults },
    ms: minutes * 60_000,
    say: (line) => console.log(`${((Date.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${line}`),
  });
  const { documents, chunks, failed, kills, differences, faulty } = result;
  console.log(`${documents} documents, ${chunks} chunks, ${failed} failed elements after ${kills} kills`);
  for (const line of [...differences, ...faulty]) console.log(`FAIL ${line}`);
  if (differences.length + faulty.length > 0) {
    console.log(
      `Again: npm run torture -- ${positionals[0]} --ops ${operations} --minutes ${minutes} --faults ${faults} --seed ${seed}`,
    );
    process.exitCode = 1;
  } else console.log('0 differences, 0 duplicates, every failed element in its sink');
} finally {
  await rm(folder, { recursive: true, force: true });
}
