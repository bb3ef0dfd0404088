import pg from 'pg';
import type { Clock } from '../../../src/contracts/context.js';
import { endClient } from './end-client.js';

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

/** A connection for questions, whose answers are in Postgres's text form, as the stream gives them. */
export interface SqlSession {
  /** One list of cells a row, in the order of the columns. Parameters are text, or lists of text. */
  rows(sql: string, values?: readonly (string | readonly string[] | null)[]): Promise<readonly SqlCell[][]>;
  close(): Promise<void>;
}

const connectTimeoutMs = 10_000;

export async function openSqlSession(
  url: string,
  applicationName: string,
  clock: Clock,
): Promise<SqlSession> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  // A lost connection shows at the next query.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(sessionSettings.join('; '));
  } catch (error) {
    await endClient(client, clock);
    throw error;
  }
  const raw = { getTypeParser: () => (value: string) => value };
  return {
    async rows(text, values = []) {
      const { rows } = await client.query({
        text,
        values: values as unknown[],
        rowMode: 'array',
        types: raw as never,
      });
      return rows as SqlCell[][];
    },
    close: () => endClient(client, clock),
  };
}
