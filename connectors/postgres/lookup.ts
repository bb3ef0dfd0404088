import type { Lookup, LookupFactory, LookupRow } from '../../src/contracts/lookup.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { PostgresLookupConfig } from './config.js';
import type { SqlRow } from './connection.js';
import { lookupError } from './lookup-error.js';
import { openPgConnection } from './pg-connection.js';
import { rowTypes } from './row-types.js';

const mostKeys = 10_000;

/** Rows by key from a Postgres database, by one query for many keys. */
export const openPostgresLookup: LookupFactory<PostgresLookupConfig> = async (config, context) => {
  const connection = openPgConnection(
    // One more for the probe.
    { ...config, connections: context.concurrency + 1, types: rowTypes, readOnly: true },
    context,
  );
  const ask = async (text: string, values: readonly string[][], signal: AbortSignal) => {
    try {
      const [rows] = await connection.transaction([{ text, values }], signal);
      return rows!;
    } catch (error) {
      signal.throwIfAborted();
      throw lookupError(error);
    }
  };
  return {
    maxKeys: mostKeys,
    async find(keys, signal) {
      const rows = rowsByKey(keys, await ask(config.query, [[...keys]], signal));
      return keys.map((key) => rows.get(key));
    },
    async probe(signal) {
      await ask('select 1', [], signal);
    },
    close: () => connection.close(),
  } satisfies Lookup;
};

function rowsByKey(keys: readonly string[], rows: readonly SqlRow[]): ReadonlyMap<string, LookupRow> {
  const asked = new Set(keys);
  const found = new Map<string, LookupRow>();
  for (const row of rows) {
    const [column, ...others] = Object.keys(row);
    const key = String(row[column!]);
    if (!asked.has(key)) throw strayRow(column!, key);
    if (found.has(key))
      throw wrong(
        `gave two rows for the key ${JSON.stringify(key)}`,
        'Let it give one row a key: group, or `select distinct on`.',
      );
    found.set(key, Object.fromEntries(others.map((name) => [name, row[name]])) as LookupRow);
  }
  return found;
}

function strayRow(column: string, key: string): MillraceError {
  return wrong(
    `gave a row whose first column, ${column}, is ${JSON.stringify(key)}: none of the keys that were asked for`,
    'The first column must be the key as the documents write it; where the database writes it another way, select the key itself: `from unnest($1::text[]) as k join … on … = k::uuid`.',
  );
}

function wrong(what: string, hint: string): MillraceError {
  return new MillraceError('transform_failed', `The query of the look-up ${what}.`, { hint });
}
