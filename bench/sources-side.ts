/** One side of the benchmark of the sources, in a process of its own: the highest that it ever held is asked of it. */
import { Redis } from 'ioredis';
import pg from 'pg';
import { cdcConfig } from '../connectors/postgres/cdc/config.js';
import { decodeMessage, type Decoding } from '../connectors/postgres/cdc/pgoutput.js';
import { Replication } from '../connectors/postgres/cdc/replication.js';
import { openPostgresSource } from '../connectors/postgres/cdc/source.js';
import { redisSourceConfig } from '../connectors/redis/config.js';
import { openRedisSource } from '../connectors/redis/source.js';
import type { ConnectorContext } from '../src/contracts/context.js';
import type { Source, SourceState } from '../src/contracts/source.js';
import type { Json } from '../src/elements/metadata.js';
import { systemClock } from '../src/flow/system-clock.js';
import { answer } from './child-process.js';
import { drainInto } from './null-run.js';

export interface SourcesSide {
  readonly side: 'cdc' | 'cdc-bare' | 'redis' | 'redis-bare';
  readonly url: string;
  readonly elements: number;
  /** Of tables and streams, slots and groups. */
  readonly name: string;
}

export interface SourcesResult {
  readonly ms: number;
  /** Processor time of all threads, in ms. */
  readonly cpuMs: number;
  readonly peakBytes: number;
}

const rowsATransaction = 1_000;
const entriesAtOnce = 500;
/** Read before the clock starts, so that all code is compiled. */
const warmUp = 20_000;
const textOf = "repeat('benchmark text ', 33)";

await answer(async (input: SourcesSide): Promise<SourcesResult> => {
  const run = await prepared(input);
  const before = process.cpuUsage();
  const began = performance.now();
  await run();
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  return { ms, cpuMs: (user + system) / 1_000, peakBytes: process.resourceUsage().maxRSS * 1024 };
});

async function prepared(input: SourcesSide): Promise<() => Promise<void>> {
  switch (input.side) {
    case 'cdc':
      return cdc(input);
    case 'cdc-bare':
      return bareCdc(input);
    case 'redis':
      return redis(input);
    case 'redis-bare':
      return bareRedis(input);
    default:
      return input.side satisfies never;
  }
}

function connectorContext(pipeline: string): ConnectorContext {
  return { pipeline, baseFolder: '/', clock: systemClock, notify: () => undefined };
}

async function through(source: Source, state: SourceState, expected: number): Promise<void> {
  const stored = await drainInto(source, state);
  if (stored !== expected) throw new Error(`${stored} of ${expected} elements were stored.`);
}

async function cdc({ url, elements, name }: SourcesSide) {
  await sql(url, `create table ${name} (id bigint primary key, body text, lang text)`);
  const state = memoryState();
  const config = cdcConfig.parse({ url, table: name, text: 'body' });
  const source = await openPostgresSource(config, connectorContext(name));
  // The table is empty: what follows comes from the stream alone.
  await through(source, state, 0);
  await insertRows(url, name, 0, warmUp);
  await through(source, state, warmUp);
  await insertRows(url, name, warmUp, elements);
  return () => through(source, state, elements);
}

/** Decodes every value, and confirms when it is asked to and at the end: no documents, no order, no bounds. */
async function bareCdc({ url, elements, name }: SourcesSide) {
  await sql(
    url,
    `create table ${name} (id bigint primary key, body text, lang text)`,
    `create publication ${name} for table ${name}`,
    `select pg_create_logical_replication_slot('${name}', 'pgoutput')`,
  );
  await insertRows(url, name, 0, warmUp);
  await decodeRows(url, name, warmUp);
  await insertRows(url, name, warmUp, elements);
  return () => decodeRows(url, name, elements);
}

async function decodeRows(url: string, name: string, expected: number): Promise<void> {
  const replication = await Replication.open({ url, timeoutMs: 30_000 }, 'bare', systemClock);
  const decoding: Decoding = {
    relations: new Map(),
    wants: ({ columns }) => columns.map(() => true),
    maxValueBytes: 1 << 30,
  };
  let rows = 0;
  let characters = 0;
  let ended = 0n;
  await new Promise<void>((resolve, reject) => {
    replication
      .start(
        { slot: name, publication: name, from: 0n },
        {
          message(bytes, from, to) {
            const event = decodeMessage(bytes, from, to, decoding);
            if (event?.kind === 'commit') {
              ended = event.endLsn;
              if (rows === expected) resolve();
            } else if (event?.kind === 'row') {
              rows += 1;
              characters += event.row!.values[1]!.length;
            }
          },
          keepalive: (position, wanted) => wanted && replication.confirm(position, ended),
          ended: reject,
        },
      )
      .catch(reject);
  });
  replication.confirm(ended, ended);
  await replication.close();
  if (characters === 0) throw new Error('Nothing was decoded.');
}

async function redis({ url, elements, name }: SourcesSide) {
  const config = redisSourceConfig.parse({ url, stream: name });
  const source = await openRedisSource(config, connectorContext(name));
  const state = memoryState();
  await addEntries(url, name, warmUp);
  await through(source, state, warmUp);
  await addEntries(url, name, elements);
  return () => through(source, state, elements);
}

async function bareRedis({ url, elements, name }: SourcesSide) {
  const client = new Redis(url);
  await client.xgroup('CREATE', name, 'bare', '0', 'MKSTREAM');
  const read = async (expected: number) => {
    for (let count = 0; count < expected;) {
      const reply = (await client.xreadgroup(
        ...(['GROUP', 'bare', 'one', 'COUNT', entriesAtOnce, 'STREAMS', name, '>'] as const),
      )) as [string, [string, string[]][]][];
      const ids = reply[0]![1].map(([id]) => id);
      await client.xack(name, 'bare', ...ids);
      count += ids.length;
    }
  };
  await addEntries(url, name, warmUp);
  await read(warmUp);
  await addEntries(url, name, elements);
  return async () => {
    await read(elements);
    client.disconnect();
  };
}

async function insertRows(url: string, table: string, after: number, rows: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (let from = after; from < after + rows; from += rowsATransaction) {
    // The server sends what is flushed, and a reading ends there: with the last transaction all of it is.
    if (from + rowsATransaction >= after + rows) await client.query('set synchronous_commit = on');
    await client.query(
      `insert into ${table} select n, ${textOf}, 'en' from generate_series($1::bigint, $2::bigint) n`,
      [from + 1, Math.min(after + rows, from + rowsATransaction)],
    );
  }
  await client.end();
}

async function addEntries(url: string, stream: string, entries: number): Promise<void> {
  const client = new Redis(url);
  const text = 'benchmark text '.repeat(33);
  for (let from = 0; from < entries; from += entriesAtOnce) {
    const pipeline = client.pipeline();
    for (let at = from; at < Math.min(entries, from + entriesAtOnce); at += 1)
      pipeline.xadd(stream, '*', 'id', String(at), 'text', text, 'lang', 'en');
    await pipeline.exec();
  }
  client.disconnect();
}

async function sql(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

function memoryState(): SourceState {
  let held: Json | undefined;
  return {
    read: async () => held,
    replace: async (_expected, value) => {
      held = value;
      return true;
    },
  };
}
