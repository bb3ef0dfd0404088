import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { StoreWrite } from '../src/contracts/sink.js';
import type { Store } from '../src/contracts/store.js';
import type { SqlStep } from '../connectors/postgres/connection.js';
import { pgliteConfig, postgresConfig } from '../connectors/postgres/config.js';
import { copyFrom } from '../connectors/postgres/pg-copy.js';
import { createDatabase } from '../connectors/postgres/pglite-create.js';
import { openDatabase } from '../connectors/postgres/pglite-database.js';
import { createPgliteStore } from '../connectors/postgres/pglite-store.js';
import { createPostgresStore } from '../connectors/postgres/postgres-store.js';
import { startPostgres } from '../test/support/services/postgres.js';
import { testContext } from '../test/support/test-context.js';
import { bareCopy, bareStage, bareUpsert } from './bare-sink.js';
import type { Benchmark, Figure } from './figure.js';
import { median } from './median.js';
import { processorTime } from './processor-time.js';
import { qdrantSink } from './qdrant-sink.js';
import { batchesOf, documents as rowsOf, width } from './sink-rows.js';

const batch = 512;
/** Batches at once, on both sides: one is written while the next is encoded. */
const underWay = 2;
const rounds = 9;
const layout = { spaces: [{ name: '*', width }] };

/** The stores' writes against the barest way to bring the same rows into the same tables. */
export const sinks: Benchmark = {
  about:
    'fenced writes and first fill of Postgres, PGlite and Qdrant, against bare loops into the same tables',
  async *run(say) {
    yield* postgres(say);
    yield* pglite(say);
    yield* qdrantSink(say);
  },
};

/** Writes batches; those of a round are made before its clock starts. */
type Write = (writes: readonly StoreWrite[]) => Promise<void>;

async function* postgres(say: (line: string) => void): AsyncGenerator<Figure> {
  const server = await startPostgres({
    shared_buffers: '256MB',
    max_wal_size: '4GB',
    checkpoint_timeout: '30min',
  });
  const stores: Store[] = [];
  const pool = new pg.Pool({ connectionString: server.url, max: underWay });
  // The server may end connections that are just being closed.
  pool.on('error', () => undefined);
  const prepared = async (schema: string) => {
    const config = postgresConfig.parse({ url: server.url, schema, index: 'off' });
    const store = await createPostgresStore(config, testContext('bench'));
    stores.push(store);
    await store.prepare(layout);
    return store;
  };
  const transaction = async (steps: readonly SqlStep[]) => {
    const client = await pool.connect();
    await client.query('begin');
    for (const step of steps)
      if ('copy' in step)
        await new Promise<void>((resolve, reject) => {
          client.query(
            copyFrom(step.copy, step.data, (error) => (error === undefined ? resolve() : reject(error))),
          );
        });
      else await client.query(step.text, step.values as unknown[]);
    await client.query('commit');
    client.release();
  };
  try {
    const ours = await prepared('ours');
    await prepared('bare');
    const setUp = await Promise.all(Array.from({ length: underWay }, () => pool.connect()));
    for (const client of setUp) await client.query(bareStage);
    for (const client of setUp) client.release();
    const time = () => processorTime(server.pid);
    yield* compare('postgres/upsert', 20 * batch, say, time, 0.8, {
      ours: async () => writeTo(ours),
      bare: async () => (writes) => transaction(bareUpsert('bare', writes)),
    });
    // What was just written, changed: the whole fence.
    yield* compare('postgres/replace', 20 * batch, say, time, undefined, {
      ours: async () => writeTo(ours),
      bare: async () => (writes) => transaction(bareUpsert('bare', writes)),
    });
    yield* compare('postgres/first-fill', 100 * batch, say, time, 0.9, {
      ours: async (round) => writeTo(await prepared(`ours_${round}`)),
      bare: async (round) => {
        await prepared(`bare_${round}`);
        return (writes) => transaction(bareCopy(`bare_${round}`, writes));
      },
    });
  } finally {
    await pool.end();
    await Promise.all(stores.map((store) => store.close()));
    await server.stop();
  }
}

async function* pglite(say: (line: string) => void): AsyncGenerator<Figure> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-sinks-'));
  const prepared = async (path: string) => {
    const store = await createPgliteStore(
      pgliteConfig.parse({ path, index: 'off' }),
      testContext('bench', folder),
    );
    await store.prepare(layout);
    return store;
  };
  const bareFolder = join(folder, 'bare');
  // The tables are ours; the loop has the database to itself, in this very thread.
  await (await prepared('bare')).close();
  await createDatabase(bareFolder).catch(() => undefined);
  const database = await openDatabase(bareFolder);
  await database.exec(bareStage);
  const ours = await prepared('ours');
  let last: Promise<void> = Promise.resolve();
  const transaction = async (steps: readonly SqlStep[]) => {
    await database.exec('begin');
    for (const step of steps)
      if ('copy' in step)
        await database.query(`copy ${step.copy} from '/dev/blob' with (format binary)`, [], {
          blob: new Blob([step.data as Uint8Array<ArrayBuffer>]),
        });
      else await database.query(step.text, step.values as unknown[]);
    await database.exec('commit');
  };
  try {
    yield* compare('pglite/upsert', 8 * batch, say, async () => 0, 0.8, {
      ours: async () => writeTo(ours),
      bare: async () => (writes) => (last = last.then(() => transaction(bareUpsert('millrace', writes)))),
    });
  } finally {
    await database.close();
    await ours.close();
    await rm(folder, { recursive: true });
  }
}

function writeTo(store: Store): Write {
  return async (writes) => {
    const results = await store.sink.write(writes);
    if (results.some(({ kind }) => kind !== 'done')) throw new Error('A document was not written.');
  };
}

interface Measured {
  readonly ms: number;
  readonly processorMs: number;
}

async function* compare(
  name: string,
  documents: number,
  say: (line: string) => void,
  serverTime: () => Promise<number>,
  bar: number | undefined,
  sides: { readonly [side in 'ours' | 'bare']: (round: number) => Promise<Write> },
): AsyncGenerator<Figure> {
  const measured: { readonly [side in 'ours' | 'bare']: Measured[] } = { ours: [], bare: [] };
  // The first round warms both sides up and does not count.
  for (let round = -1; round < rounds; round += 1) {
    const order = round % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const);
    const rows = rowsOf('bench', (round + 1) * documents, documents, name.endsWith('replace') ? 1 : 0);
    for (const side of order) {
      const write = await sides[side](round + 1);
      const result = await measure(write, rows, serverTime);
      if (round >= 0) measured[side].push(result);
    }
    if (round >= 0)
      say(
        `${name}, round ${round + 1} of ${rounds}: ${measured.ours[round]!.ms | 0} ms, bare ${measured.bare[round]!.ms | 0} ms`,
      );
  }
  for (const side of ['ours', 'bare'] as const)
    yield {
      name: `sinks/${name}/${side}`,
      value: Math.round(median(measured[side].map(({ ms }) => (documents * 1000) / ms))),
      unit: 'documents/s',
    };
  const ratio = (of: (result: Measured) => number) =>
    Math.round(median(measured.ours.map((one, round) => of(measured.bare[round]!) / of(one))) * 1000) / 1000;
  yield {
    name: `sinks/${name}/ratio`,
    value: ratio(({ ms }) => ms),
    unit: 'of the bare loop',
    ...(bar !== undefined && { bar }),
    better: 'higher',
  };
  yield {
    name: `sinks/${name}/processor-ratio`,
    value: ratio(({ processorMs }) => processorMs),
    unit: 'of the bare loop',
    better: 'higher',
  };
}

/** Time on the clock and of processors, this process's and the server's. */
async function measure(
  write: Write,
  rows: readonly StoreWrite[],
  serverTime: () => Promise<number>,
): Promise<Measured> {
  const waiting = batchesOf(rows, batch);
  const serverBefore = await serverTime();
  const before = process.cpuUsage();
  const began = performance.now();
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await write(next);
  };
  await Promise.all(Array.from({ length: underWay }, worker));
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  return { ms, processorMs: (user + system) / 1000 + (await serverTime()) - serverBefore };
}
