import pg from 'pg';
import { startTcpProxy } from '../support/faults/tcp-proxy.js';
import { startPostgres } from '../support/services/postgres.js';
import type { TortureDriver } from './driver.js';
import type { Expected } from './log.js';
import type { Operation } from './operations.js';

const slot = 'millrace_torture';
/** Transactions that are under way at once, and so overlap. */
const writers = 3;
const mostInTransaction = 8;

/** Rows of a table, changed by overlapping transactions and followed by one daemon, while another waits to take over. */
export async function startPostgresDriver(): Promise<TortureDriver> {
  const server = await startPostgres({ wal_level: 'logical', deadlock_timeout: '100ms' });
  const proxy = await startTcpProxy(Number(new URL(server.url).port));
  /** The log of what was written is the table; a deleted row leaves its id here. */
  const ids = new Set<string>();
  let target: string | undefined;

  async function ask<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    for (;;) {
      const client = new pg.Client({ connectionString: server.url });
      client.on('error', () => undefined);
      try {
        await client.connect();
        return (await client.query<Row>(text, values)).rows;
      } catch (error) {
        if (!mayPass(error)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  }

  await ask(`create table documents (id text primary key, body text not null, lang text, revision text);
             alter table documents alter column body set storage external`);

  /** The same transaction again until it is in: a second time says the same as the first. */
  async function transact(operations: readonly Operation[]): Promise<void> {
    const statements = operations.map(statementOf);
    for (;;) {
      const client = new pg.Client({ connectionString: server.url });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('begin');
        for (const { text, values } of statements) await client.query(text, values);
        await client.query('commit');
        return;
      } catch (error) {
        if (!mayPass(error)) throw error;
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  }

  return {
    source: 'postgres:documents',
    config: {
      postgres: {
        ...{
          url: proxy.through(server.url),
          table: 'documents',
          text: 'body',
          metadata: ['lang', 'revision'],
        },
        ...{ timeoutMs: 1_500, takeoverMs: 3_000, heartbeatMs: 1_000, batch: 64 },
      },
    },
    daemons: 2,
    proxy,
    async write(operations) {
      target = undefined;
      const transactions: Operation[][] = [];
      for (let at = 0; at < operations.length;) {
        const size = 1 + ((at * 7) % mostInTransaction);
        transactions.push(operations.slice(at, at + size));
        at += size;
      }
      for (const { id } of operations) ids.add(id);
      const next = transactions.values();
      await Promise.all(
        Array.from({ length: writers }, async () => {
          for (const transaction of next) await transact(transaction);
        }),
      );
    },
    restart: () => server.restart(),
    async backlog() {
      target ??= (await ask<{ at: string }>('select pg_current_wal_lsn() as at'))[0]!.at;
      // Confirmed is what comes before the end of the last commit.
      const [row] = await ask<{ bytes: string }>(
        `select greatest(0, pg_wal_lsn_diff($1, confirmed_flush_lsn) - 1) as bytes
         from pg_replication_slots where slot_name = '${slot}'`,
        [target],
      );
      return row === undefined ? Infinity : Number(row.bytes);
    },
    async expected() {
      const expected = new Map<string, Expected>();
      for (const id of ids) expected.set(id, { content: undefined, failed: false, earlier: [] });
      const rows = await ask<{ id: string; body: string; lang: string; revision: string }>(
        'select * from documents',
      );
      for (const { id, body, lang, revision } of rows)
        expected.set(id, {
          content: { text: body, metadata: { lang, revision } },
          failed: false,
          earlier: [],
        });
      return expected;
    },
    async trace(id) {
      const rows = await ask('select xmin, revision, md5(body) from documents where id = $1', [id]);
      return rows.map((row) => JSON.stringify(row));
    },
    async stop() {
      await proxy.stop();
      await server.stop();
    },
  };
}

function statementOf(operation: Operation): { text: string; values: unknown[] } {
  const { id } = operation;
  switch (operation.kind) {
    case 'put': {
      const { text, metadata } = operation;
      return {
        text: `insert into documents values ($1, $2, $3, $4) on conflict (id)
               do update set body = excluded.body, lang = excluded.lang, revision = excluded.revision`,
        values: [id, text, metadata['lang'], metadata['revision']],
      };
    }
    case 'delete':
      return { text: 'delete from documents where id = $1', values: [id] };
    // A row is always good: instead, a change that leaves its text where it is, out of the row.
    case 'bad':
      return { text: `update documents set revision = revision || '+' where id = $1`, values: [id] };
    default:
      return operation satisfies never;
  }
}

/** A deadlock, a server on its way down or up, a lost connection. */
function mayPass(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  return !(error instanceof pg.DatabaseError) || /^(40|57|08|53)/.test(code);
}
