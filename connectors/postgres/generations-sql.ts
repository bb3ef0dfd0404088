import type { BehindDocument, ClaimOptions } from '../../src/contracts/generations.js';
import type { SpaceLayout } from '../../src/contracts/store.js';
import type { Json } from '../../src/elements/metadata.js';
import type { SqlStatement } from './connection.js';
import { generationKeySql } from './generation-key.js';
import type { TableNames } from './names.js';
import { layoutVersion } from './schema-sql.js';

/** The key of the active generation of the pipeline in a parameter. */
const activeKey = (names: TableNames, pipeline: string) =>
  `(select ${generationKeySql('h.pipeline', 'h.active')} from ${names.layout} h where h.pipeline = ${pipeline})`;

export function listGenerationsSql(names: TableNames, pipeline: string): SqlStatement {
  return {
    text: `select g.number, case when g.number = h.active then 'active' else l.state end as state, l.spaces,
             (extract(epoch from l.since) * 1000)::float8 as since,
             (select count(*)::int from ${names.behind} b
              where b.pipeline = $1 and b.generation = g.number and g.number <> h.active) as behind
           from ${names.layout} h, generate_series(1, h.generations) as g (number),
             lateral (select * from ${names.layout} where pipeline = ${generationKeySql('h.pipeline', 'g.number')}) l
           where h.pipeline = $1 and (g.number = h.active or l.state <> 'gone') order by g.number`,
    values: [pipeline],
  };
}

/** Of the generations beside the active one. */
export function otherGenerationsSql(names: TableNames, pipeline: string): SqlStatement {
  return {
    text: `select g.number, l.state, (extract(epoch from l.since) * 1000)::float8 as since
           from ${names.layout} h, generate_series(1, h.generations) as g (number),
             lateral (select * from ${names.layout} where pipeline = ${generationKeySql('h.pipeline', 'g.number')}) l
           where h.pipeline = $1 and g.number <> h.active and l.state <> 'gone' order by g.number`,
    values: [pipeline],
  };
}

export function behindSql(names: TableNames, pipeline: string, generation: number): SqlStatement {
  return {
    text: `select count(*)::int as documents, (count(*) filter (where claimed_until > clock_timestamp()))::int as claimed
           from ${names.behind} where pipeline = $1 and generation = $2`,
    values: [pipeline, generation],
  };
}

/** Makes the rows of a new generation; it follows the active one as soon as writers that are under way are done. */
export function startSql(
  names: TableNames,
  pipeline: string,
  spaces: readonly SpaceLayout[],
  chain: Json,
): SqlStatement {
  return {
    text: `with head as (
             update ${names.layout} set generations = generations + 1, followers = followers || (generations + 1)
             where pipeline = $1 returning generations as number
           ), made as (
             insert into ${names.layout} (pipeline, version, width, spaces, state)
             select ${generationKeySql('$1::text', 'number')}, $2, $3, $4::json, 'listing' from head
           ), told as (
             insert into ${names.artifacts} (pipeline, name, value)
             select ${generationKeySql('$1::text', 'number')}, 'chain', $5::json from head
           ) select number from head`,
    values: [pipeline, layoutVersion, spaces[0]!.width, JSON.stringify(spaces), JSON.stringify(chain)],
    rows: 1,
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
             select $1, $2, document_id from ${names.ledger} where pipeline = ${activeKey(names, '$1')}
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
             where l.pipeline = ${activeKey(names, '$1')} and l.document_id = claimed.document_id), 0) as chunks
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

/** One statement, so that ledger and chunks of a document fit each other. */
export function readDocumentsSql(names: TableNames, pipeline: string, ids: readonly string[]): SqlStatement {
  return {
    text: `with active as materialized (select ${activeKey(names, '$1')} as key)
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
             where a.pipeline = ${activeKey(names, '$1')}
               and (${facts('a')}) is distinct from (${facts('f')})
             on conflict do nothing returning 1
           ) select count(*)::int as differing from noted`,
    values: [pipeline, generation, key],
  };
}

export function pauseSql(names: TableNames, pipeline: string, ms: number): SqlStatement {
  return {
    text: `update ${names.layout} set paused_until = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
           where pipeline = $1`,
    values: [pipeline, ms],
  };
}

export function resumeSql(names: TableNames, pipeline: string): SqlStatement {
  return { text: `update ${names.layout} set paused_until = null where pipeline = $1`, values: [pipeline] };
}

/** The steps end at the first, undone, where the generation may not become the active one. */
export function switchSql(
  names: TableNames,
  pipeline: string,
  { from, to, fromKey, toKey, shown }: Switch,
): readonly SqlStatement[] {
  const stored = (key: string) =>
    `(select count(*) from ${names.ledger} where pipeline = ${key} and state = 'stored')`;
  return [
    {
      text: `update ${names.layout} set active = $3::int, paused_until = null,
               followers = array_append(array_remove(followers, $3::int), active)
             where pipeline = $1 and active = $2 and $3 = any(followers) and paused_until > clock_timestamp()
               and shown is not distinct from $6
               and not exists (select from ${names.behind} where pipeline = $1 and generation = $3)
               and ${stored('$4')} = ${stored('$5')}
             returning 1`,
      values: [pipeline, from, to, fromKey, toKey, shown],
      rows: 1,
    },
    {
      text: `update ${names.layout} set state = 'retired', since = now() where pipeline = $1`,
      values: [fromKey],
    },
    {
      text: `update ${names.layout} set state = 'active', since = now() where pipeline = $1`,
      values: [toKey],
    },
  ];
}

export interface Switch {
  readonly from: number;
  readonly to: number;
  readonly fromKey: string;
  readonly toKey: string;
  /** Name of the view that shows the active one; another one by now ends the switch. */
  readonly shown: string | null;
}

/** From now on nobody reads or writes the generation, nor notes what it is behind in. */
export function leaveSql(
  names: TableNames,
  pipeline: string,
  generation: number,
  key: string,
): readonly SqlStatement[] {
  return [
    {
      text: `update ${names.layout} set followers = array_remove(followers, $2::int)
             where pipeline = $1 and active <> $2::int returning 1`,
      values: [pipeline, generation],
      rows: 1,
    },
    {
      text: `update ${names.layout} set state = 'leaving', since = now() where pipeline = $1`,
      values: [key],
    },
  ];
}

/** Rows of a table that belong to a generation, so many at most. */
export function removeSql(table: string, key: string, limit: number): SqlStatement {
  return {
    text: `with gone as (
             delete from ${table} where ctid = any(array(select ctid from ${table} where pipeline = $1 limit $2)) returning 1
           ) select count(*)::int as rows from gone`,
    values: [key, limit],
  };
}

/** What is left of a generation once its chunks and its ledger are gone. The row of the first is the head of the pipeline. */
export function forgetSql(
  names: TableNames,
  pipeline: string,
  generation: number,
  key: string,
): readonly SqlStatement[] {
  const own = generation === 1 ? "and name = 'chain'" : '';
  return [
    {
      text: `delete from ${names.behind} where pipeline = $1 and generation = $2`,
      values: [pipeline, generation],
    },
    { text: `delete from ${names.artifacts} where pipeline = $1 ${own}`, values: [key] },
    generation === 1
      ? { text: `update ${names.layout} set state = 'gone' where pipeline = $1`, values: [key] }
      : { text: `delete from ${names.layout} where pipeline = $1`, values: [key] },
  ];
}

/** First chunks with their vectors as text: of these documents, or of so many that are spread over all. */
export function vectorsSql(
  names: TableNames,
  key: string,
  columns: readonly string[],
  of: number | readonly string[],
): SqlStatement {
  const ids =
    typeof of === 'number'
      ? `(select document_id from ${names.ledger} where pipeline = $1 and state = 'stored' and chunk_count > 0
          order by hashtext(document_id) limit $2) as w (id)`
      : 'unnest($2::text[]) as w (id)';
  return {
    text: `select w.id, ${columns.map((column, at) => `c.${column}::text as v${at}`).join(', ')}
           from ${ids}, lateral (select * from ${names.chunks} where pipeline = $1 and document_id = w.id
             order by ordinal limit 1) c`,
    values: [key, of],
  };
}
