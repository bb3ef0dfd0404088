import pg from 'pg';
import type { PoolClient } from 'pg';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { ConnectorContext } from '../../src/contracts/context.js';
import { createBackend, type Backend } from './backend.js';
import {
  asExpected,
  type SqlConnection,
  type SqlRow,
  type SqlStatement,
  type SqlStep,
} from './connection.js';
import { EndingClient } from './ending-client.js';
import { copyFrom } from './pg-copy.js';
import { classifySqlError } from './sql-error.js';
import { watched } from './statement-watch.js';
import { untilAborted } from '../../src/errors/until-aborted.js';

export interface PgOptions {
  readonly url: string;
  readonly connections: number;
  /** A statement without an answer for so long is asked after on another connection. */
  readonly timeoutMs: number;
  /** How values are read. Default: the driver's own way. */
  readonly types?: pg.CustomTypesConfig;
  /** Transactions may not write: the server refuses it. */
  readonly readOnly?: boolean;
}

const connectTimeoutMs = 10_000;

/** Who stops in the middle of a transaction, or is cut off in silence, must not keep others out. */
const begin = ({ timeoutMs, readOnly = false }: PgOptions) =>
  `begin isolation level read committed${readOnly ? ' read only' : ''}; set local client_min_messages = warning; set local idle_in_transaction_session_timeout = ${Math.ceil(timeoutMs)}`;

/** A pool of connections to a server. Lost ones are replaced at the next use. */
export function openPgConnection(
  options: PgOptions,
  context: Pick<ConnectorContext, 'notify' | 'clock'>,
): SqlConnection {
  const { url, connections, timeoutMs, types } = options;
  const pool = new pg.Pool({
    Client: EndingClient,
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'millrace',
    ...(types !== undefined && { types }),
  });
  const { host, port, database } = new pg.Client({ connectionString: url });
  const where = `Postgres at ${host}:${port}/${database ?? ''}`;
  const underWay = new Set<Promise<unknown>>();
  const backends = new WeakMap<PoolClient, Backend>();
  let closed: Promise<void> | undefined;

  // Without a listener the process would die when the server drops an idle connection.
  pool.on('error', (error) =>
    context.notify({
      level: 'warn',
      code: 'store_connection_lost',
      message: `${where}: an idle connection was lost (${error.message}); the next use connects again.`,
    }),
  );

  async function withClient<T>(
    work: (client: PoolClient) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    let client: PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw classifySqlError(error, where, !(error instanceof pg.DatabaseError));
    }
    let broken = false;
    const lost = () => (broken = true);
    // A cancelled connection is not used again: the cancel might arrive late and hit another's statement.
    const known = backends.get(client);
    const backend = known ?? createBackend(client, url, timeoutMs);
    const cancel = () => {
      broken = true;
      void backend.cancel().catch(() => undefined);
    };
    client.on('error', lost).on('end', lost);
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      signal?.throwIfAborted();
      const met = async () => {
        if (known === undefined) await backend.meet();
        backends.set(client, backend);
        signal?.throwIfAborted();
        return work(client);
      };
      return await watched(met(), {
        clock: context.clock,
        everyMs: timeoutMs,
        isWorking: () => backend.isWorking(),
        giveUp: () => backend.drop(),
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw classifySqlError(error, where, broken);
    } finally {
      signal?.removeEventListener('abort', cancel);
      client.off('error', lost).off('end', lost);
      client.release(broken);
    }
  }

  function run<T>(work: (client: PoolClient) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (closed !== undefined)
      return Promise.reject(new MillraceError('internal', `${where}: used after it was closed.`));
    signal?.throwIfAborted();
    const promise = withClient(work, signal);
    const settled = promise.catch(() => undefined).finally(() => underWay.delete(settled));
    underWay.add(settled);
    return untilAborted(promise, signal);
  }

  return {
    create: async () => {},
    query: async (statement, signal) => run((client) => runWithSettings(client, statement), signal),
    transaction: async (steps, signal) =>
      run((client) => runTransaction(client, steps, options, signal), signal),
    close: () =>
      (closed ??= (async () => {
        await Promise.all(underWay);
        await pool.end();
      })()),
  };
}

async function runWithSettings(client: PoolClient, statement: SqlStatement): Promise<SqlRow[]> {
  const settings = Object.entries(statement.settings ?? {});
  try {
    for (const [name, value] of settings)
      await client.query('select set_config($1, $2, false)', [name, value]);
    return await runStep(client, statement);
  } finally {
    // A connection that is broken is closed anyway.
    for (const [name] of settings) await client.query(`reset ${name}`).catch(() => undefined);
  }
}

async function runTransaction(
  client: PoolClient,
  steps: readonly SqlStep[],
  options: PgOptions,
  signal: AbortSignal | undefined,
): Promise<SqlRow[][]> {
  await client.query(begin(options));
  try {
    const results: SqlRow[][] = [];
    for (const step of steps) {
      signal?.throwIfAborted();
      const rows = await runStep(client, step);
      if (!asExpected(step, rows)) {
        await client.query('rollback');
        return results;
      }
      results.push(rows);
    }
    await client.query('commit');
    return results;
  } catch (error) {
    // When the connection is gone the server rolls back by itself.
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}

async function runStep(client: PoolClient, step: SqlStep): Promise<SqlRow[]> {
  if ('copy' in step) {
    await new Promise<void>((resolve, reject) => {
      client.query(
        copyFrom(step.copy, step.data, (error) => (error === undefined ? resolve() : reject(error))),
      );
    });
    return [];
  }
  const { text, values = [] }: SqlStatement = step;
  const { rows } = await client.query<SqlRow>(text, values as unknown[]);
  return rows;
}
