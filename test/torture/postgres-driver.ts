import { startTcpProxy } from '../support/faults/tcp-proxy.js';
import { startPostgres } from '../support/services/postgres.js';
import type { StartDriver } from './driver.js';
import type { Content, Expected } from './log.js';
import { languages, maxRowBytes, rowOperations, unlisted, type RowOperation } from './row-operations.js';
import { RowWriters } from './row-writers.js';
import { SteadyClient } from './steady-client.js';

const slot = 'millrace_torture';

/** The log of what was written is the database itself: the table, and a history that its own trigger keeps. */
const tables = `
  create table documents (id text primary key, body text not null, lang text not null, revision text not null);
  alter table documents alter column body set storage external;
  create table languages (code text primary key, language text not null);
  insert into languages values ${Object.entries(languages)
    .map(([code, language]) => `('${code}', '${language}')`)
    .join(', ')};
  create table history (at bigint generated always as identity, id text, body text, lang text, revision text);
  create function remember() returns trigger language plpgsql as $$ begin
    insert into history (id, body, lang, revision) values (new.id, new.body, new.lang, new.revision); return null;
  end $$;
  create trigger remember after insert or update on documents for each row execute function remember()`;

interface Row {
  readonly id: string;
  readonly body: string;
  readonly lang: string;
  readonly revision: string;
}

/** Rows of a table, changed by overlapping transactions and followed by one daemon, while another waits to take over. */
export const startPostgresDriver: StartDriver<RowOperation> = async (random) => {
  const server = await startPostgres({ wal_level: 'logical', deadlock_timeout: '100ms' });
  const proxy = await startTcpProxy(Number(new URL(server.url).port));
  const client = new SteadyClient(server.url);
  const writers = new RowWriters(server.url, random);
  const url = proxy.through(server.url);
  const listed = { ...languages };
  let target: string | undefined;

  const ask = <T>(text: string, values: unknown[] = []): Promise<T[]> =>
    client.run(async (connection) => (await connection.query(text, values)).rows as T[]);
  await ask(tables);

  return {
    source: 'postgres:documents',
    config: {
      postgres: {
        ...{ url, table: 'documents', text: 'body', metadata: ['lang', 'revision'] },
        ...{ timeoutMs: 1_500, takeoverMs: 3_000, heartbeatMs: 1_000, batch: 64 },
      },
    },
    steps: [
      {
        enrich: {
          postgres: {
            ...{ url, query: 'select code, language from languages where code = any($1)' },
            ...{ key: 'lang', timeoutMs: 1_500 },
          },
          ...{ missing: 'fail', timeout: '2s' },
        },
      },
    ],
    limits: { maxItemBytes: maxRowBytes },
    audited: true,
    daemons: 2,
    proxy,
    changes: rowOperations,
    async write(operations) {
      target = undefined;
      await writers.write(operations);
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
      for (const { id } of await ask<{ id: string }>('select distinct id from history'))
        expected.set(id, { content: undefined, failed: false, earlier: [] });
      const failing: string[] = [];
      for (const row of await ask<Row>('select * from documents')) {
        const content = contentOf(row, listed);
        if (content === undefined) failing.push(row.id);
        expected.set(row.id, { content, failed: content === undefined, earlier: [] });
      }
      const earlier = new Map<string, Content[]>();
      for (const row of await ask<Row>('select * from history where id = any($1)', [failing])) {
        const content = contentOf(row, listed);
        if (content !== undefined) earlier.set(row.id, [...(earlier.get(row.id) ?? []), content]);
      }
      for (const [id, contents] of earlier)
        expected.set(id, { content: undefined, failed: true, earlier: contents });
      return expected;
    },
    async mend() {
      listed[unlisted] = 'Unlisted';
      await ask('insert into languages values ($1, $2)', [unlisted, listed[unlisted]]);
    },
    async trace(id) {
      const rows = await ask<object>(
        `select at, xmin, lang, revision, length(body), md5(body) from history where id = $1 order by at`,
        [id],
      );
      return rows.map((row) => JSON.stringify(row));
    },
    async stop() {
      await writers.close();
      await client.close();
      await proxy.stop();
      await server.stop();
    },
  };
};

/** What a row must become; undefined where it must fail. */
function contentOf(
  { body, lang, revision }: Row,
  listed: Readonly<Record<string, string>>,
): Content | undefined {
  const language = listed[lang];
  if (language === undefined || Buffer.byteLength(body) > maxRowBytes) return undefined;
  return { text: body, metadata: { lang, revision, language } };
}
