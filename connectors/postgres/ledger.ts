import type { LedgerEntry, SweepScope } from '../../src/contracts/sink.js';
import { parseVersion, type Version } from '../../src/elements/version.js';
import type { SqlStatement, SqlValue } from './connection.js';
import type { TableNames } from './names.js';

interface LedgerRow {
  readonly document_id: string;
  readonly source: string;
  readonly version: string | null;
  readonly state: LedgerEntry['state'];
  readonly content_hash: string | null;
  readonly chain_digest: string | null;
  readonly chunk_count: number;
  readonly failed_version: string | null;
}

const columns =
  'document_id, source, version, state, content_hash, chain_digest, chunk_count, failed_version';

export function selectLedger(names: TableNames, pipeline: string, ids: readonly string[]): SqlStatement {
  return {
    text: `select ${columns}
           from ${names.ledger} where pipeline = $1 and document_id = any($2::text[])`,
    values: [pipeline, ids],
  };
}

export function ledgerEntry(row: unknown): LedgerEntry {
  const found = row as LedgerRow;
  return {
    documentId: found.document_id,
    source: found.source,
    version: versionOrNone(found.version),
    state: found.state,
    contentHash: found.content_hash ?? undefined,
    chainDigest: found.chain_digest ?? undefined,
    chunkCount: found.chunk_count,
    failedVersion: versionOrNone(found.failed_version),
  };
}

function versionOrNone(text: string | null): Version | undefined {
  return text === null ? undefined : parseVersion(text);
}

export function countUnnamedSql(names: TableNames, pipeline: string, scope: SweepScope): SqlStatement {
  return {
    text: `select count(*)::int as stored, (count(*) filter (where ${unnamed}))::int as unnamed
           from ${names.ledger} where ${inScope}`,
    values: scopeValues(pipeline, scope),
  };
}

export function listUnnamedSql(
  names: TableNames,
  pipeline: string,
  scope: SweepScope,
  after: string | undefined,
  limit: number,
): SqlStatement {
  return {
    text: `select document_id from ${names.ledger}
           where ${inScope} and ${unnamed} and ($6::text is null or document_id > $6)
           order by document_id limit $7`,
    values: [...scopeValues(pipeline, scope), after ?? null, limit],
  };
}

export function listLedgerSql(
  names: TableNames,
  pipeline: string,
  source: string,
  after: string | undefined,
  limit: number,
): SqlStatement {
  return {
    text: `select ${columns} from ${names.ledger}
           where pipeline = $1 and source = $2 and state <> 'deleted' and ($3::text is null or document_id > $3)
           order by document_id limit $4`,
    values: [pipeline, source, after ?? null, limit],
  };
}

const inScope = `pipeline = $1 and source = $2 and state = 'stored'
  and document_id >= $3 and starts_with(document_id, $3)
  and not exists (select from unnest($4::text[]) as outside (prefix) where starts_with(document_id, outside.prefix))`;
const unnamed = 'version < $5 and (failed_version is null or failed_version < $5)';

function scopeValues(pipeline: string, { source, prefix, except, since }: SweepScope): SqlValue[] {
  return [pipeline, source, prefix, except, since];
}
