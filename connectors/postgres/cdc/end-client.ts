import type pg from 'pg';
import type { Clock } from '../../../src/contracts/context.js';

/** What the driver's types do not tell of its connections. */
export interface PgConnection {
  once(event: 'end', listener: () => void): void;
  end(): void;
  readonly stream: { readonly destroyed: boolean; resume(): void; destroy(): void };
}

const endMs = 1_000;

/** Says goodbye, so that what was sent arrives; closes the socket whatever the server does. */
export async function endClient(client: pg.Client, clock: Clock): Promise<void> {
  const { connection } = client as pg.Client & { readonly connection: PgConnection };
  const { stream } = connection;
  if (stream.destroyed) return;
  const ended = new AbortController();
  connection.once('end', () => ended.abort());
  stream.resume();
  connection.end();
  await clock.sleep(endMs, ended.signal).catch(() => undefined);
  stream.destroy();
}
