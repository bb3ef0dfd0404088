import type pg from 'pg';
import type { Clock } from '../../../src/contracts/context.js';
import { endClient, type PgConnection } from './end-client.js';
import { interruption } from './interrupted.js';

export interface ConnectOptions {
  /** Statements that set the session up. */
  readonly settings: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Ends the making of the connection at once. */
  readonly signal?: AbortSignal | undefined;
}

/** The kernel asks for a sign of life where nothing is sent: a statement may wait for others for any time. */
export function clientConfig(
  { url, timeoutMs }: { readonly url: string; readonly timeoutMs: number },
  applicationName: string,
): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: timeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: timeoutMs,
  };
}

/** @throws Interrupted when no connection can be made within the time; what the server reports as it is */
export async function connectClient(
  client: pg.Client,
  { settings, timeoutMs, clock, signal }: ConnectOptions,
): Promise<void> {
  const { connection } = client as pg.Client & { readonly connection: PgConnection };
  // The driver changes the stream when it goes over to TLS.
  const stop = () => connection.stream.destroy();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    signal?.throwIfAborted();
    await client.connect();
    for (const setting of settings) await client.query(timed(setting, timeoutMs));
  } catch (error) {
    await endClient(client, clock);
    throw interruption(error);
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** A statement that rejects when it is not answered within the time. */
export function timed(text: string, timeoutMs: number): pg.QueryConfig {
  return { text, query_timeout: timeoutMs } as pg.QueryConfig;
}
