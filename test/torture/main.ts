/**
 * The long forms of the torture tests: `npm run torture -- redis|postgres [--ops 200000 --seed 1 --minutes 10 --faults 150]`
 * and `npm run torture -- backfill [--rows 1000000 --seed 1]`; of generations, see generations/command.ts.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tortureBackfill } from './backfill/torture-backfill.js';
import { generationsCommand } from './generations/command.js';
import { startPostgresDriver } from './postgres-driver.js';
import { startRedisDriver } from './redis-driver.js';
import { torture, type TortureResult, type TortureRun } from './torture.js';

const tortures: { readonly [name: string]: (run: TortureRun) => Promise<TortureResult> } = {
  redis: (options) => torture({ ...options, startDriver: startRedisDriver }),
  postgres: (options) => torture({ ...options, startDriver: startPostgresDriver }),
};

if (process.argv[2] === 'generations') process.exit(await generationsCommand(process.argv.slice(3)));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ops: { type: 'string', default: '200000' },
    rows: { type: 'string', default: '1000000' },
    seed: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    faults: { type: 'string' },
  },
});
const name = positionals[0] ?? '';
const [operations, rows, minutes] = [Number(values.ops), Number(values.rows), Number(values.minutes)];
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
// One in 4 seconds.
const faults = values.faults === undefined ? Math.max(2, Math.round(minutes * 15)) : Number(values.faults);
const run = tortures[name];
const sound = [operations, rows, minutes, seed, faults].every((number) => number >= 0);
if (!sound || (run === undefined && name !== 'backfill')) {
  console.error(
    `npm run torture -- ${Object.keys(tortures).join('|')} [--ops 200000] [--seed 1] [--minutes 10]\n` +
      'npm run torture -- backfill [--rows 1000000] [--seed 1]\n' +
      'npm run torture -- generations --store postgres|qdrant [--chunks 100000] [--seed 1]',
  );
  process.exit(2);
}

const folder = await mkdtemp(join(tmpdir(), 'millrace-torture-'));
const began = Date.now();
const say = (line: string) =>
  console.log(`${((Date.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${line}`);
try {
  if (run === undefined) await backfill();
  else await changes(run);
} catch (error) {
  process.exitCode = 1;
  console.log(error);
}
if (process.exitCode === 1) console.log(`What it worked with is kept in ${folder}`);
else await rm(folder, { recursive: true, force: true });

async function changes(run: (options: TortureRun) => Promise<TortureResult>): Promise<void> {
  console.log(`${operations} operations over ${minutes} minutes, ${faults} faults: --seed ${seed}`);
  const result = await run({ ...{ folder, operations, seed, faults, say }, ms: minutes * 60_000 });
  const { documents, chunks, failed, kills, differences, faulty } = result;
  console.log(`${documents} documents, ${chunks} chunks, ${failed} failed elements after ${kills} kills`);
  judge(
    [...differences, ...faulty],
    `${name} --ops ${operations} --minutes ${minutes} --faults ${faults} --seed ${seed}`,
    '0 differences, 0 duplicates, every failed element in its sink',
  );
}

async function backfill(): Promise<void> {
  console.log(`${rows} rows, two kills: --seed ${seed}`);
  const { differences, ...result } = await tortureBackfill({
    ...{ folder, rows, seed, say, changesPerSecond: 100, lookMs: 1_000 },
  });
  console.log(
    `${result.rows} rows, ${result.chunks} chunks, ${result.changes} changes meanwhile, killed with ${result.killedAt.join(' and ')} rows durable`,
  );
  judge(differences, `backfill --rows ${rows} --seed ${seed}`, '0 differences, 0 duplicates, a clean audit');
}

function judge(faults: readonly string[], again: string, well: string): void {
  for (const line of faults) console.log(`FAIL ${line}`);
  console.log(faults.length === 0 ? well : `Again: npm run torture -- ${again}`);
  if (faults.length > 0) process.exitCode = 1;
}
