import pg from 'pg';
import type { Clock } from '../../../src/contracts/context.js';
import { clientConfig, connectClient } from './connect-client.js';
import { endClient } from './end-client.js';
import { interruption } from './interrupted.js';

/** Our own small writes wait for no standby. */
const ownSettings = ["set synchronous_commit to 'off'"];

/** Values print the same in the stream and in queries: both kinds of connection are set so. */
export const sessionSettings = [
  "set client_encoding to 'UTF8'",
  "set datestyle to 'ISO'",
  "set intervalstyle to 'postgres'",
  "set timezone to 'UTC'",
  'set extra_float_digits to 1',
  "set bytea_output to 'hex'",
  "set lc_monetary to 'C'",
  "set xmlbinary to 'base64'",
];

export type SqlCell = string | null;
export type SqlParameter = string | readonly string[] | null;

/** A connection for questions, whose answers are in Postgres's text form, as the stream gives them. */
export interface SqlSession {
  /** One list of cells a row, in the order of the columns. Parameters are text, or lists of text. */
  rows(sql: string, values?: readonly SqlParameter[]): Promise<readonly SqlCell[][]>;
  /** The same for what may wait for others for any time. */
  patientRows(sql: string, values?: readonly SqlParameter[]): Promise<readonly SqlCell[][]>;
  /** Resolves when the connection has ended, whoever ended it. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Where the server is; see the configuration. */
export interface ServerOptions {
  readonly url: string;
  readonly timeoutMs: number;
}

export async function openSqlSession(
  server: ServerOptions,
  applicationName: string,
  clock: Clock,
  signal?: AbortSignal,
): Promise<SqlSession> {
  const client = new pg.Client(clientConfig(server, applicationName));
  // A lost connection shows at the next query.
  client.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  const { timeoutMs } = server;
  const settings = [[...sessionSettings, ...ownSettings].join('; ')];
  await connectClient(client, { settings, timeoutMs, clock, signal });
  const raw = { getTypeParser: () => (value: string) => value };
  const ask = async (text: string, values: readonly SqlParameter[], patient: boolean) => {
    const query = {
      text,
      values: values as unknown[],
      rowMode: 'array',
      types: raw as never,
      ...(!patient && { query_timeout: timeoutMs }),
    } satisfies pg.QueryArrayConfig & { readonly query_timeout?: number };
    try {
      const { rows } = await client.query(query);
      return rows as SqlCell[][];
    } catch (error) {
      throw interruption(error);
    }
  };
  return {
    rows: async (text, values = []) => ask(text, values, false),
    patientRows: async (text, values = []) => ask(text, values, true),
    ended,
    close: () => endClient(client, clock),
  };
}
