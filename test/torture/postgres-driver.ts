import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startTcpProxy } from '../support/faults/tcp-proxy.js';
import { startPostgres } from '../support/services/postgres.js';
import type { TortureDriver } from './driver.js';
import { OperationLog } from './log.js';
import type { Operation } from './operations.js';

const table = 'torture';
const slot = 'millrace_torture';
/** Transactions that overlap. */
const atOnce = 3;

/** Rows of a Postgres table, read by one daemon while another waits to take over. A row has no version that cannot be read. */
export async function startPostgresDriver(): Promise<TortureDriver> {
  const server = await startPostgres({ wal_level: 'logical' });
  const proxy = await startTcpProxy(Number(new URL(server.url).port));
  const log = new OperationLog();
  const query = <Row extends pg.QueryResultRow>(text: string) =>
    patiently(server.url, async (client) => (await client.query<Row>(text)).rows);
  await query(
    `create table ${table} (id text primary key, body text, lang text, revision text, touched int default 0)`,
  );
  return {
    source: `postgres:${table}`,
    config: {
      postgres: {
        ...{ url: proxy.through(server.url), table, text: 'body', metadata: ['lang', 'revision'] },
        ...{ timeoutMs: 1_500, takeoverMs: 2_000, heartbeatMs: 1_000, batch: 64 },
      },
    },
    daemons: 2,
    proxy,
    async write(operations) {
      const readable = operations.filter(({ kind }) => kind !== 'bad');
      // Changes of one row are in one transaction, in their order; the others are under way at the same time.
      const parts = Array.from({ length: atOnce }, (_, part) =>
        readable.filter(({ id }) => shareOf(id) === part),
      );
      await Promise.all(parts.map((part) => patiently(server.url, (client) => apply(client, part))));
      for (const operation of readable) log.add(operation);
    },
    restart: () => server.restart(),
    async backlog() {
      const [row] = await query<{ bytes: string | null }>(
        `select greatest(0, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), confirmed_flush_lsn)) as bytes
         from pg_replication_slots where slot_name = '${slot}'`,
      );
      // What the daemons write to the log themselves is always a little ahead of what they confirm.
      const bytes = Number(row?.bytes ?? Infinity);
      return bytes < 4_096 ? 0 : bytes;
    },
    expected: () => Promise.resolve(log.documents),
    async trace(id) {
      const rows = await query<{ row: string }>(
        `select row(t.*)::text as row from ${table} t where id = ${pg.escapeLiteral(id)}`,
      );
      return rows.map(({ row }) => row.slice(0, 200));
    },
    async stop() {
      await proxy.stop();
      await server.stop();
    },
  };
}

async function apply(client: pg.Client, operations: readonly Operation[]): Promise<void> {
  await client.query('begin');
  for (const operation of operations) await change(client, operation);
  // Large texts stay out of what the log says of this.
  await client.query(`update ${table} set touched = touched + 1 where id = $1`, [operations[0]?.id ?? '']);
  await client.query('commit');
}

async function change(client: pg.Client, operation: Operation): Promise<void> {
  switch (operation.kind) {
    case 'put': {
      const { id, text, metadata } = operation;
      await client.query(
        `insert into ${table} values ($1, $2, $3, $4)
         on conflict (id) do update set body = $2, lang = $3, revision = $4`,
        [id, text, metadata['lang'], metadata['revision']],
      );
      return;
    }
    case 'delete':
      await client.query(`delete from ${table} where id = $1`, [operation.id]);
      return;
    case 'bad':
      throw new Error('A row has no version that cannot be read.');
    default:
      operation satisfies never;
  }
}

/** Once more from the start when the server goes away: what is done twice says the same. */
async function patiently<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return await work(client);
    } catch (error) {
      if (tries === 100) throw error;
      await delay(100);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

function shareOf(id: string): number {
  return [...id].reduce((sum, sign) => sum + sign.charCodeAt(0), 0) % atOnce;
}
