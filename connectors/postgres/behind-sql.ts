import type { BehindDocument, ClaimOptions } from '../../src/contracts/generations.js';
import type { SqlStatement } from './connection.js';
import { activeKeySql } from './generation-key.js';
import type { TableNames } from './names.js';

export function behindSql(names: TableNames, pipeline: string, generation: number): SqlStatement {
  return {
    text: `select count(*)::int as documents, (count(*) filter (where claimed_until > clock_timestamp()))::int as claimed
           from ${names.behind} where pipeline = $1 and generation = $2`,
    values: [pipeline, generation],
  };
}

/** All that is stored by now; what is written from here on is noted by its writer. */
export function enlistSql(
  names: TableNames,
  pipeline: string,
  generation: number,
  key: string,
): readonly SqlStatement[] {
  return [
    {
      text: `select from ${names.layout} where pipeline = $1 and state = 'listing' for update`,
      values: [key],
      rows: 1,
    },
    {
      text: `insert into ${names.behind} (pipeline, generation, document_id)
             select $1, $2, document_id from ${names.ledger} where pipeline = ${activeKeySql(names, '$1')}
             on conflict do nothing`,
      values: [pipeline, generation],
    },
    {
      text: `update ${names.layout} set state = 'filling', since = now() where pipeline = $1`,
      values: [key],
    },
  ];
}

export function claimSql(
  names: TableNames,
  pipeline: string,
  generation: number,
  { after, limit, leaseMs }: ClaimOptions,
): SqlStatement {
  return {
    text: `with next as materialized (
             select ctid as place from ${names.behind}
             where pipeline = $1 and generation = $2 and document_id > $3 and claimed_until < clock_timestamp()
             order by document_id limit $4 for update skip locked
           ), claimed as (
             update ${names.behind} b set claimed_until = clock_timestamp() + make_interval(secs => $5::float8 / 1000)
             from next where b.ctid = next.place returning b.document_id, b.mark
           ) select document_id, mark::text, coalesce((
             select chunk_count from ${names.ledger} l
             where l.pipeline = ${activeKeySql(names, '$1')} and l.document_id = claimed.document_id), 0) as chunks
           from claimed order by document_id`,
    values: [pipeline, generation, after, limit, leaseMs],
  };
}

export function settleSql(
  names: TableNames,
  pipeline: string,
  generation: number,
  documents: readonly BehindDocument[],
): SqlStatement {
  return {
    // A row that was marked anew meanwhile has another place by now.
    text: `delete from ${names.behind} b using (
             select l.place from unnest($3::text[], $4::bigint[]) as w (document_id, mark), lateral (
               select ctid as place from ${names.behind}
               where pipeline = $1 and generation = $2 and document_id = w.document_id and mark = w.mark offset 0) l
           ) as found where b.ctid = found.place`,
    values: [
      pipeline,
      generation,
      documents.map(({ documentId }) => documentId),
      documents.map(({ mark }) => mark),
    ],
  };
}

export function reconcileSql(
  names: TableNames,
  pipeline: string,
  generation: number,
  key: string,
  by: 'contents' | 'versions',
): SqlStatement {
  const contents = by === 'contents' ? ['content_hash', 'chunk_count'] : [];
  const facts = (of: string) =>
    ['version', 'state', ...contents, 'failed_version'].map((name) => `${of}.${name}`).join(', ');
  return {
    text: `with noted as (
             insert into ${names.behind} (pipeline, generation, document_id)
             select $1, $2, a.document_id from ${names.ledger} a
             left join (select * from ${names.ledger} where pipeline = $3) f using (document_id)
             where a.pipeline = ${activeKeySql(names, '$1')}
               and (${facts('a')}) is distinct from (${facts('f')})
             on conflict do nothing returning 1
           ) select count(*)::int as differing from noted`,
    values: [pipeline, generation, key],
  };
}
