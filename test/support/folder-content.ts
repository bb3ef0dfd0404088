import { createHash } from 'node:crypto';
import { openPgliteConnection } from '../../connectors/postgres/pglite-connection.js';
import { systemClock } from '../../src/flow/system-clock.js';

export interface StoredChunk {
  readonly documentId: string;
  readonly contentHash: string;
  readonly id: string;
  readonly ordinal: number;
  readonly start: number;
  readonly end: number;
  readonly hash: string;
  readonly tokens: number;
  readonly text: string;
  readonly metadata: unknown;
  /** Hex digest of the vector's bytes. */
  readonly vector: string;
}

export interface LedgerRow {
  readonly documentId: string;
  readonly state: string;
  readonly version: string | null;
  readonly failedVersion: string | null;
  readonly chunkCount: number;
}

export interface FolderContent {
  readonly chunks: readonly StoredChunk[];
  readonly ledger: readonly LedgerRow[];
  /** Digest of all chunks: equal for equal contents. Versions do not count. */
  readonly digest: string;
  /** Documents whose number of chunks is not what the ledger says, and chunks that the ledger does not know. */
  readonly unsound: readonly string[];
}

/** Everything that a PGlite folder holds of a pipeline, read beside whoever owns it. */
export async function readFolder(folder: string, pipeline: string): Promise<FolderContent> {
  const connection = openPgliteConnection(folder, { clock: systemClock });
  try {
    const chunks = (await connection.query({
      text: `select c.document_id as "documentId", l.content_hash as "contentHash", c.id, c.ordinal, c."start", c."end",
                    c.hash, c.tokens, c.text, c.metadata, md5(vector_send(c.embedding)) as vector
             from millrace.chunks c left join millrace.ledger l using (pipeline, document_id)
             where c.pipeline = $1
             order by c.document_id collate "C", c.ordinal`,
      values: [pipeline],
    })) as unknown as StoredChunk[];
    const ledger = (await connection.query({
      text: `select document_id as "documentId", state, version, failed_version as "failedVersion",
                    chunk_count as "chunkCount"
             from millrace.ledger where pipeline = $1 order by document_id`,
      values: [pipeline],
    })) as unknown as LedgerRow[];
    return { chunks, ledger, digest: digestOf(chunks), unsound: faults(chunks, ledger) };
  } finally {
    await connection.close();
  }
}

function digestOf(chunks: readonly StoredChunk[]): string {
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(JSON.stringify(chunk)).update('\n');
  return hash.digest('hex');
}

function faults(chunks: readonly StoredChunk[], ledger: readonly LedgerRow[]): string[] {
  const counts = new Map<string, number>();
  for (const { documentId } of chunks) counts.set(documentId, (counts.get(documentId) ?? 0) + 1);
  const wrong = ledger.flatMap(({ documentId, state, chunkCount }) => {
    const found = counts.get(documentId) ?? 0;
    counts.delete(documentId);
    const due = state === 'stored' ? chunkCount : 0;
    return found === due ? [] : [`${documentId}: ${found} chunks, not ${due}`];
  });
  return [...wrong, ...[...counts].map(([id, count]) => `${id}: ${count} chunks without a ledger row`)];
}
