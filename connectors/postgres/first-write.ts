import type { DocumentWrite, StoreWrite } from '../../src/contracts/sink.js';
import type { SqlStep } from './connection.js';
import { chunkColumns, encodeChunks, textFields, type RowShape } from './encode.js';
import { wordsOf } from './encode-terms.js';
import { broughtTexts, keepNewSql } from './kept-texts-sql.js';
import { lockHeadSql, markSql, type WriteTarget } from './head.js';
import type { TableNames } from './names.js';
import type { Stage } from './stage.js';

/** The longest pause between two tries, in batches. */
const maxPause = 64;

/**
 * The straight way in for documents that nobody wrote yet: their ledger rows, then a COPY right into the chunks. It is
 * taken as long as it works; once a document was known after all, it rests for ever more batches.
 */
export class FirstWrites {
  #pause = 0;
  #left = 0;

  /** Whether to try: only what is whole by itself can be new. */
  try(writes: readonly DocumentWrite[]): writes is readonly StoreWrite[] {
    if (!writes.every(isWhole)) return false;
    if (this.#left === 0) return true;
    this.#left -= 1;
    return false;
  }

  tell(worked: boolean): void {
    this.#pause = worked ? 0 : Math.min(maxPause, this.#pause * 2 + 1);
    this.#left = this.#pause;
  }
}

function isWhole(write: DocumentWrite): boolean {
  return (
    write.kind === 'store' && write.spaces.every(({ vectors }) => vectors.every((one) => one !== undefined))
  );
}

/** The steps end at the first, undone, unless no document is known and the generation may be written. */
export function firstWriteSteps(
  names: TableNames,
  target: WriteTarget,
  shape: RowShape,
  { columns, more }: Stage,
  writes: readonly StoreWrite[],
): readonly SqlStep[] {
  const { key, pipeline, generation, role } = target;
  const documents = writes
    .filter(({ chunks }) => chunks.length > 0)
    .map((write) => ({ ...write, lead: textFields(key, write.documentId) }));
  const ledger: SqlStep = {
    text: `with head as materialized (${lockHeadSql(names, target, '$9', '$10', '$12')}),
      w as (
        select w.* from head, unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $11::int[])
          as w (document_id, source, version, content_hash, chain_digest, chunk_count, words)
      ), put as (
        insert into ${names.ledger}
          (pipeline, document_id, source, version, state, content_hash, chain_digest, chunk_count, words)
        select $1, document_id, source, version, 'stored', content_hash, chain_digest, chunk_count, words
        from w order by document_id collate "C" on conflict do nothing returning 1
      )${role === 'active' ? `, told as (${markSql(names, '$9', 'head', 'w')})` : ''} select from put having count(*) = $8`,
    values: [
      key,
      writes.map(({ documentId }) => documentId),
      writes.map(({ source }) => source),
      writes.map(({ version }) => version),
      writes.map(({ contentHash }) => contentHash),
      writes.map(({ chainDigest }) => chainDigest),
      writes.map(({ chunks }) => chunks.length),
      writes.length,
      pipeline,
      generation,
      writes.map(wordsOf),
      target.columnsJson,
    ],
    rows: 1,
  };
  const brought = target.keeping ? broughtTexts(writes, new Map()) : undefined;
  const kept = brought === undefined ? [] : [keepNewSql(names, pipeline, writes, brought)];
  if (documents.length === 0) return [ledger, ...kept];
  const copy = `${names.chunks} (pipeline, document_id, ${[chunkColumns, ...columns, ...more].join(', ')})`;
  return [ledger, ...kept, { copy, data: encodeChunks(documents, shape) }];
}
