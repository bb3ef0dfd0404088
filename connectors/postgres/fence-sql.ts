import type { DocumentWrite } from '../../src/contracts/sink.js';
import type { SpaceLayout } from '../../src/contracts/store.js';
import type { SqlStatement, SqlStep } from './connection.js';
import { wordsOf } from './encode-terms.js';
import { lockHeadSql, markSql, type WriteTarget } from './head.js';
import { broughtValues, keepParts, type BroughtTexts } from './kept-texts-sql.js';
import type { TableNames } from './names.js';
import type { Stage } from './stage.js';

/** What the fence decided of a write; `owner` names another source as the owner. */
export interface FenceRow {
  readonly write: number;
  readonly verdict: 'done' | 'stale' | 'moved' | 'owner';
  readonly owner: string;
  readonly cleared: boolean;
}

/** A planner without statistics would rather read whole tables. The settings last for the transaction. */
export const planByKey: SqlStatement = {
  text: "select set_config(name, 'off', true) from unnest(array['enable_seqscan', 'jit']) as name",
};

/**
 * The steps of a write after its chunks were staged: the head of the pipeline locked, and a row for each unknown document,
 * so that it can be locked; all rows locked in the order of their ids; then, seeing what earlier writers committed, the
 * verdict and all that follows from it in one statement. Its rows are the FenceRows. The steps end early, undone, unless
 * the generation may be written.
 * @param brought what sources gave, where it is kept
 */
export function fenceSteps(
  names: TableNames,
  target: WriteTarget,
  spaces: readonly SpaceLayout[],
  stage: Stage,
  writes: readonly DocumentWrite[],
  brought?: BroughtTexts,
): readonly SqlStep[] {
  const ids = writes.map(({ documentId }) => documentId);
  const sources = writes.map(({ source }) => source);
  const { key, pipeline, generation } = target;
  return [
    planByKey,
    {
      text: `with head as materialized (${lockHeadSql(names, target, '$4', '$5', '$6')}),
             absent as (
               insert into ${names.ledger} (pipeline, document_id, source, state)
               select $1, w.id, w.source, 'absent' from head, unnest($2::text[], $3::text[]) as w (id, source)
               order by w.id collate "C" on conflict do nothing
             ) select from head`,
      values: [key, ids, sources, pipeline, generation, target.columnsJson],
      rows: 1,
    },
    {
      text: `select count(*) from (select id from unnest($2::text[]) as id order by id collate "C") as w,
             lateral (select from ${names.ledger} where pipeline = $1 and document_id = w.id for update offset 0) as locked`,
      values: [key, ids],
    },
    {
      text: applySql(names, target, stage),
      values: [
        key,
        writes.map((_, index) => index),
        writes.map(({ kind }) => kind),
        ids,
        sources,
        writes.map(({ version }) => version),
        writes.map((write) => ('contentHash' in write ? write.contentHash : null)),
        writes.map((write) => ('chainDigest' in write ? write.chainDigest : null)),
        writes.map((write) => (write.kind === 'store' ? write.chunks.length : 0)),
        writes.map((write) => (write.kind === 'store' ? wordsOf(write) : 0)),
        // A pipeline with one space has all its chunks there.
        ...(spaces.length === 1 ? [] : spaces.map(({ name }) => writes.map((write) => isIn(write, name)))),
        ...(target.role === 'active' ? [pipeline] : []),
        ...(brought === undefined ? [] : broughtValues(brought)),
      ],
    },
  ];
}

const chunkFields = ['ordinal', '"start"', '"end"', 'tokens', 'hash', 'text', 'prefix', 'metadata'];

function isIn(write: DocumentWrite, space: string): boolean {
  return write.kind === 'store' && write.spaces.some((one) => one.space === space);
}

/**
 * Every row of the tables is found once: by its key, one id after another (a subquery with an offset is planned by
 * itself, so that no statistics, or wrong ones, make the planner read a whole table), and then by its place (`ctid`),
 * which stays since the ledger's rows are locked.
 *
 * Rows that would not change are left alone: a rewritten row costs an entry in every index. New rows need no ON
 * CONFLICT, which writes each row twice: nobody else adds chunks of a document whose ledger row is locked.
 */
function applySql(
  names: TableNames,
  { role, keeping }: WriteTarget,
  { table, columns, more }: Stage,
): string {
  const fields = [...chunkFields, ...more];
  const list = (prefix: string) => fields.map((field) => `${prefix}.${field}`).join(', ');
  const several = columns.length > 1;
  const flags = several ? columns.map((_, at) => `in_${at}`) : [];
  const kept = (column: string, at: number) =>
    several
      ? `case when d.in_${at} then coalesce(s.${column}, k.${column}) end`
      : `coalesce(s.${column}, k.${column})`;
  /** The write keeps a vector in this space. */
  const keeps = (column: string, at: number) => `${several ? `w.in_${at} and ` : ''}s.${column} is null`;
  const has = columns.map((_, at) => `has_${at}`);
  const pipeline = `$${11 + flags.length}::text`;
  const head = `(select followers from ${names.layout} where pipeline = ${pipeline}) as head`;
  const keep = keeping ? keepParts(names, pipeline, 12 + flags.length) : undefined;
  const told = markSql(names, pipeline, head, '(select document_id from decided where done)');
  return `
with w as materialized (
  select * from unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[], $10::int[]${flags
    .map((_, at) => `, $${11 + at}::bool[]`)
    .join('')})
    as w (${['write, kind, document_id, source, version, content_hash, chain_digest, chunk_count, words', ...flags].join(', ')})
)${keep?.brought ?? ''}, held as materialized (
  select w.write, k.* from w, lateral (
    select ctid as place, id, ${columns.map((column, at) => `${column} is not null as ${has[at]}`).join(', ')}
    from ${names.chunks} where pipeline = $1 and document_id = w.document_id offset 0) k
  where w.kind in ('store', 'delete')
), lacking as materialized (
  select distinct s.write from ${table} s join w using (write)
  where (${columns.map((column, at) => `(${keeps(column, at)})`).join(' or ')}) and not exists (
    select from held k where k.write = s.write and k.id = s.id
      and ${columns.map((column, at) => `(k.${has[at]} or not (${keeps(column, at)}))`).join(' and ')})
), compared as (
  select w.*, l.place, l.source as owner, l.failed_version as failed, l.state as old_state,
    (w.version > l.version or l.version is null)
      and (w.version >= l.failed_version or l.failed_version is null) as newer,
    w.version = l.version as same_version,
    l.content_hash is not distinct from w.content_hash
      and l.chain_digest is not distinct from w.chain_digest as same_content
  from w, lateral (select ctid as place, * from ${names.ledger}
    where pipeline = $1 and document_id = w.document_id offset 0) l
), judged as (
  select c.*, case
    when owner <> source then 'owner'
    when kind = 'fail' then case when newer and failed is distinct from version then 'done' else 'stale' end
    when not newer and not (kind = 'store' and coalesce(same_version, false) and not same_content) then 'stale'
    when kind = 'touch' and not (old_state = 'stored' and same_content) then 'moved'
    when write in (select write from lacking) then 'moved'
    ${keep?.moved ?? ''}
    else 'done' end as verdict
  from compared c
), decided as materialized (
  select *, verdict = 'done' as done from judged
), put as (
  insert into ${names.chunks} (pipeline, document_id, id, ${[...fields, ...columns].join(', ')})
  select $1, d.document_id, s.id, ${list('s')}, ${columns.map((column) => `s.${column}`).join(', ')}
  from decided d join ${table} s on s.write = d.write
  where d.done and not exists (select from held k where k.write = s.write and k.id = s.id)
), changed as (
  update ${names.chunks} k
  set ${fields.map((field) => `${field} = s.${field}`).join(', ')},
    ${columns.map((column, at) => `${column} = ${kept(column, at)}`).join(', ')}
  from decided d join held h on h.write = d.write join ${table} s on s.write = h.write and s.id = h.id
  where d.done and k.ctid = h.place
    and ((${list('k')}) is distinct from (${list('s')})
      or ${columns.map((column, at) => `k.${column} is distinct from ${kept(column, at)}`).join(' or ')})
), gone as (
  delete from ${names.chunks} k using decided d join held h on h.write = d.write
  where d.done and k.ctid = h.place
    and not exists (select from ${table} s where s.write = h.write and s.id = h.id)
), entry as (
  update ${names.ledger} l set
    version = case when d.kind = 'fail' then l.version else d.version end,
    state = case d.kind when 'store' then 'stored' when 'delete' then 'deleted' else l.state end,
    content_hash = case when d.kind in ('store', 'delete') then d.content_hash else l.content_hash end,
    chain_digest = case when d.kind in ('store', 'delete') then d.chain_digest else l.chain_digest end,
    chunk_count = case when d.kind in ('store', 'delete') then d.chunk_count else l.chunk_count end,
    words = case when d.kind in ('store', 'delete') then d.words else l.words end,
    failed_version = case when d.kind = 'fail' then d.version
                          when l.failed_version <= d.version then null
                          else l.failed_version end,
    updated_at = now()
  from decided d
  where d.done and l.ctid = d.place
), unused as (
  delete from ${names.ledger} l using decided d
  where not d.done and d.old_state = 'absent' and d.failed is null and l.ctid = d.place
)${keep?.done ?? ''}${role === 'active' ? `, told as (${told})` : ''}
select write, verdict, owner, done and kind <> 'fail' and coalesce(failed <= version, false) as cleared
from decided`;
}
