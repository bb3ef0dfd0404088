import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Clock } from '../../src/contracts/context.js';
import type { Sink } from '../../src/contracts/sink.js';
import type { SqlConnection } from './connection.js';
import { FirstWrites } from './first-write.js';
import type { WriteTarget } from './head.js';
import type { FoundLayout, FoundSpace } from './layout.js';
import { countUnnamedSql, ledgerEntry, listLedgerSql, listUnnamedSql, selectLedger } from './ledger.js';
import type { TableNames } from './names.js';
import { writeDocuments } from './write.js';

export interface SqlSinkParts {
  readonly connection: SqlConnection;
  readonly names: TableNames;
  readonly pipeline: string;
  readonly role: WriteTarget['role'];
  readonly clock: Clock;
  /** The generation that is written; without spaces while nobody prepared it. */
  locate(signal?: AbortSignal): Promise<FoundLayout | undefined>;
  /** The same, seen anew. */
  relocate(signal?: AbortSignal): Promise<FoundLayout | undefined>;
}

/** The ledger and the chunks of a generation, as a sink. */
export function createSqlSink(parts: SqlSinkParts): Sink {
  const { connection, names, pipeline, role, clock, locate, relocate } = parts;
  const first = new FirstWrites();
  /** Whether writers keep what they are given: learnt from the head of the pipeline, which refuses writes without. */
  const kept = { texts: false };

  function there(found: FoundLayout | undefined): FoundLayout {
    if (found === undefined || found.spaces.length === 0) throw notPrepared(pipeline);
    return found;
  }

  async function key(signal?: AbortSignal): Promise<string | undefined> {
    const found = await locate(signal);
    return found === undefined || found.spaces.length === 0 ? undefined : found.key;
  }

  return {
    ledger: async (ids, signal) => {
      const of = ids.length === 0 ? undefined : await key(signal);
      if (of === undefined) return new Map();
      const rows = await connection.query(selectLedger(names, of, ids), signal);
      return new Map(rows.map(ledgerEntry).map((entry) => [entry.documentId, entry]));
    },
    heldChunks: async (space, ids, signal) => {
      const found = ids.length === 0 ? undefined : await locate(signal);
      const column = namedSpace(found?.spaces, space)?.column;
      if (found === undefined || column === undefined) return new Set();
      const text = `select id from ${names.chunks}
                    where pipeline = $1 and id = any($2::uuid[]) and ${column} is not null`;
      const rows = await connection.query({ text, values: [found.key, ids] }, signal);
      return new Set(rows.map((row) => row['id'] as string));
    },
    write: async (writes, signal) => {
      if (writes.length === 0) return [];
      const found = there(await locate(signal));
      const again = async () => there(await relocate(signal));
      const writer = { connection, names, pipeline, role, clock, first, kept, found, locate: again };
      return writeDocuments(writer, writes, signal);
    },
    countUnnamed: async (scope) => {
      const of = await key();
      if (of === undefined) return { stored: 0, unnamed: 0 };
      const rows = await connection.query(countUnnamedSql(names, of, scope));
      return rows[0] as { stored: number; unnamed: number };
    },
    listUnnamed: async (scope, after, limit) => {
      const of = await key();
      if (of === undefined) return [];
      const rows = await connection.query(listUnnamedSql(names, of, scope, after, limit));
      return rows.map((row) => row['document_id'] as string);
    },
    listLedger: async (source, after, limit) => {
      const of = await key();
      if (of === undefined) return [];
      const rows = await connection.query(listLedgerSql(names, of, source, after, limit));
      return rows.map(ledgerEntry);
    },
  };
}

export function namedSpace(spaces: readonly FoundSpace[] | undefined, name: string): FoundSpace | undefined {
  return spaces?.find((space) => space.name === name);
}

function notPrepared(pipeline: string): MillraceError {
  return new MillraceError(
    'store_layout',
    `Pipeline ${JSON.stringify(pipeline)} has no tables in this store.`,
    { hint: 'Prepare the store before the first write: `millrace run` does.' },
  );
}
