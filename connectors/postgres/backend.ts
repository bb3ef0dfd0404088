import type { PoolClient } from 'pg';
import { EndingClient } from './ending-client.js';

/** The server's side of a connection. */
export interface Backend {
  /**
   * Finds out whether a pooler stands between, and has the server look every 5 s whether this end is still there: one that
   * waits for a lock would not see it. Called once, before the first statement.
   */
  meet(): Promise<void>;
  /** Asks the server to give up the statement; it may be over already, then nothing happens. */
  cancel(): Promise<void>;
  /**
   * Whether the server works on a statement of this connection, or waits for a lock. Behind a pooler, where nobody can
   * tell, true.
   */
  isWorking(): Promise<boolean>;
  /**
   * Ends the connection: what waits on it fails. The server is told on another one, since it would keep the locks of the
   * transaction for somebody who will never come.
   */
  drop(): void;
}

/** @param client connected; @param timeoutMs for an answer to a question about it */
export function createBackend(client: PoolClient, url: string, timeoutMs: number): Backend {
  const { processID, connection } = client as PoolClient & {
    readonly processID: number;
    readonly connection: { readonly stream: { destroy(): void } };
  };
  let pooled = false;

  async function ask(text: string): Promise<boolean> {
    const other = new EndingClient({
      connectionString: url,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      application_name: 'millrace watch',
    });
    other.on('error', () => undefined);
    await other.connect();
    try {
      const { rows } = await other.query<{ yes: boolean }>(text, [processID]);
      return rows[0]?.yes === true;
    } finally {
      void other.end().catch(() => undefined);
    }
  }

  return {
    meet: async () => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      pooled = rows[0]!.pid !== processID;
      // From Postgres 14, and not everywhere: without it the time-outs do.
      if (!pooled) await client.query("set client_connection_check_interval = '5s'").catch(() => undefined);
    },
    cancel: async () => void (await ask('select pg_cancel_backend($1) as yes')),
    // One that waits for us while we wait for it (wait event Client) will wait for ever.
    isWorking: async () =>
      pooled ||
      ask(`select state = 'active' and wait_event_type is distinct from 'Client' as yes
           from pg_stat_activity where pid = $1`),
    drop: () => {
      connection.stream.destroy();
      if (!pooled) void ask('select pg_terminate_backend($1) as yes').catch(() => undefined);
    },
  };
}
