import type { StoredDocument } from '../../src/contracts/generations.js';
import type { Metadata } from '../../src/elements/metadata.js';
import type { SqlConnection, SqlRow, SqlStatement } from './connection.js';
import { activeKeySql } from './generation-key.js';
import { ledgerEntry } from './ledger.js';
import type { TableNames } from './names.js';
import { transactByKey } from './transact-by-key.js';

/** Documents as the active generation holds them; unknown ones are left out. */
export async function readDocuments(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<readonly StoredDocument[]> {
  const { rows } = await transactByKey(connection, [readSql(names, pipeline, ids)], signal);
  return rows.map(storedDocument);
}

/** One statement, so that ledger and chunks of a document fit each other. */
function readSql(names: TableNames, pipeline: string, ids: readonly string[]): SqlStatement {
  return {
    text: `with active as materialized (select ${activeKeySql(names, '$1')} as key)
           select l.*, (
             select coalesce(json_agg(json_build_object('id', id, 'ordinal', ordinal, 'start', "start", 'end', "end",
               'tokens', tokens, 'hash', hash, 'text', text, 'prefix', prefix, 'metadata', metadata) order by ordinal), '[]')
             from ${names.chunks} where pipeline = l.pipeline and document_id = l.document_id
           ) as chunks
           from active, unnest($2::text[]) as w (id), lateral (
             select pipeline, document_id, source, version, state, content_hash, chain_digest, chunk_count, failed_version
             from ${names.ledger} where pipeline = active.key and document_id = w.id offset 0) l`,
    values: [pipeline, ids],
  };
}

interface ChunkRow {
  readonly id: string;
  readonly ordinal: number;
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
  readonly hash: string;
  readonly text: string;
  /** Null where it was not kept. */
  readonly prefix: string | null;
  readonly metadata: Metadata;
}

/** A row of the ledger with its chunks as JSON. */
function storedDocument(row: SqlRow): StoredDocument {
  const entry = ledgerEntry(row);
  return {
    entry,
    chunks: (row['chunks'] as readonly ChunkRow[]).map(({ prefix, ...chunk }) => ({
      ...chunk,
      documentId: entry.documentId,
      embeddedText: (prefix ?? '') + chunk.text,
    })),
  };
}
