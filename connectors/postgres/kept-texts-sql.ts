import type { OfferedText } from '../../src/contracts/kept-texts.js';
import type { DocumentWrite } from '../../src/contracts/sink.js';
import { contentHash } from '../../src/elements/hash.js';
import type { SqlStatement, SqlValue } from './connection.js';
import { generationKeySql } from './generation-key.js';
import type { TableNames } from './names.js';

/** A column of the head and a table, for all generations of a pipeline: the active one's writers keep it. */
export function keptTextsStatements(names: TableNames): readonly string[] {
  return [
    `alter table ${names.layout} add column if not exists keeps text not null default 'no'`,
    `create table if not exists ${names.texts} (
       pipeline text collate "C" not null,
       document_id text collate "C" not null,
       hash text not null,
       text text not null,
       metadata json not null,
       primary key (pipeline, document_id)
     )`,
  ];
}

/** What a batch of writes brings, a place in the lists a write that brings something. */
export interface BroughtTexts {
  readonly writes: readonly number[];
  readonly hashes: readonly string[];
  /** Null: the store has it already. */
  readonly texts: readonly (string | null)[];
  readonly metadata: readonly (string | null)[];
}

/** @param held ids of documents whose text is kept, with its hash */
export function broughtTexts(
  writes: readonly DocumentWrite[],
  held: ReadonlyMap<string, string>,
): BroughtTexts {
  const rows = writes.flatMap((write, index) => {
    if (!('given' in write) || write.given === undefined) return [];
    const { text, metadata } = write.given;
    const hash = contentHash(write.given);
    const there = write.kind === 'touch' && held.get(write.documentId) === hash;
    return [{ index, hash, text: there ? null : text, metadata: there ? null : JSON.stringify(metadata) }];
  });
  return {
    writes: rows.map(({ index }) => index),
    hashes: rows.map(({ hash }) => hash),
    texts: rows.map(({ text }) => text),
    metadata: rows.map(({ metadata }) => metadata),
  };
}

export function broughtValues({ writes, hashes, texts, metadata }: BroughtTexts): readonly SqlValue[] {
  return [writes, hashes, texts, metadata];
}

const kept = 'hash = excluded.hash, text = excluded.text, metadata = excluded.metadata';

/** Keeps texts of documents of which the ledger knew nothing. */
export function keepNewSql(
  names: TableNames,
  pipeline: string,
  writes: readonly DocumentWrite[],
  brought: BroughtTexts,
): SqlStatement {
  return {
    text: `insert into ${names.texts} as t (pipeline, document_id, hash, text, metadata)
           select $1, document_id, hash, text, metadata::json
           from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as w (document_id, hash, text, metadata)
           where (select keeps from ${names.layout} where pipeline = $1) <> 'no'
           order by document_id collate "C"
           on conflict (pipeline, document_id) do update set ${kept}`,
    values: [
      pipeline,
      brought.writes.map((index) => writes[index]!.documentId),
      brought.hashes,
      brought.texts,
      brought.metadata,
    ],
  };
}

/**
 * Parts of the statement that judges writes and does them (`decided`, `compared`).
 * @param pipeline and first parameters: the name, and the first of `broughtValues`
 */
export function keepParts(names: TableNames, pipeline: string, first: number) {
  const at = (offset: number, type: string) => `$${first + offset}::${type}[]`;
  const ofPipeline = (alias: string) => `${alias}.pipeline = ${pipeline} and ${alias}.document_id`;
  return {
    brought: `, brought as materialized (
  select * from unnest(${at(0, 'int')}, ${at(1, 'text')}, ${at(2, 'text')}, ${at(3, 'text')})
    as b (write, hash, text, metadata)
)`,
    /** A touch that left its text out, since the store had it, and the store has another one by now. */
    moved: `when kind = 'touch' and exists (
      select from brought b where b.write = c.write and b.text is null and not exists (
        select from ${names.texts} t where ${ofPipeline('t')} = c.document_id and t.hash = b.hash)) then 'moved'`,
    done: `, keep as (
  insert into ${names.texts} as t (pipeline, document_id, hash, text, metadata)
  select ${pipeline}, d.document_id, b.hash, b.text, b.metadata::json from decided d join brought b using (write)
  where d.done and b.text is not null
    and (select keeps from ${names.layout} where pipeline = ${pipeline}) <> 'no'
  on conflict (pipeline, document_id) do update set ${kept} where t.hash <> excluded.hash
), forgotten as (
  delete from ${names.texts} t using decided d
  where d.done and d.kind in ('store', 'delete') and ${ofPipeline('t')} = d.document_id
    and not exists (select from brought b where b.write = d.write)
)`,
  };
}

export function heldTextsSql(names: TableNames, pipeline: string, ids: readonly string[]): SqlStatement {
  return {
    text: `select t.document_id, t.hash from unnest($2::text[]) as w (id), lateral (
             select document_id, hash from ${names.texts} where pipeline = $1 and document_id = w.id offset 0) t`,
    values: [pipeline, ids],
  };
}

export function readTextsSql(names: TableNames, pipeline: string, ids: readonly string[]): SqlStatement {
  return {
    text: `select t.* from unnest($2::text[]) as w (id), lateral (
             select document_id, text, metadata from ${names.texts}
             where pipeline = $1 and document_id = w.id offset 0) t`,
    values: [pipeline, ids],
  };
}

const activeKey = (names: TableNames) =>
  `(select ${generationKeySql('h.pipeline', 'h.active')} from ${names.layout} h where h.pipeline = $1)`;

export function missingTextsSql(names: TableNames, pipeline: string): SqlStatement {
  return {
    text: `select count(*)::int as documents, min(document_id) as first from ${names.ledger} l
           where pipeline = ${activeKey(names)} and state = 'stored'
             and not exists (select from ${names.texts} t where t.pipeline = $1 and t.document_id = l.document_id)`,
    values: [pipeline],
  };
}

/** The rows of the ledger are locked, so that no deletion comes in between. */
export function offerTextsSql(
  names: TableNames,
  pipeline: string,
  source: string,
  documents: readonly OfferedText[],
): SqlStatement {
  return {
    text: `with w as materialized (
             select * from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
               as w (document_id, version, hash, text, metadata) order by document_id collate "C"
           ), locked as materialized (
             select l.* from w, lateral (
               select document_id as id, state, source, version as stored_version from ${names.ledger}
               where pipeline = ${activeKey(names)} and document_id = w.document_id for share offset 0) l
           ), kept as (
             insert into ${names.texts} (pipeline, document_id, hash, text, metadata)
             select $1, w.document_id, w.hash, w.text, w.metadata::json from w join locked l on l.id = w.document_id
             where l.state = 'stored' and l.source = $2 and (w.version is null or w.version = l.stored_version)
             on conflict do nothing returning 1
           ) select count(*)::int as taken from kept`,
    values: [
      pipeline,
      source,
      documents.map(({ documentId }) => documentId),
      documents.map(({ version }) => version ?? null),
      documents.map(contentHash),
      documents.map(({ text }) => text),
      documents.map(({ metadata }) => JSON.stringify(metadata)),
    ],
  };
}

/** How the head is told, by the configuration or for a filling. */
export function setKeepingSql(
  names: TableNames,
  pipeline: string,
  to: 'no' | 'meanwhile' | 'always',
): SqlStatement {
  const change = {
    always: "keeps = 'always' where pipeline = $1 and keeps <> 'always'",
    meanwhile: "keeps = 'meanwhile' where pipeline = $1 and keeps = 'no'",
    // What is being filled from it, or may be switched back to, still needs it.
    no: `keeps = case followers when '{}' then 'no' else 'meanwhile' end where pipeline = $1 and keeps = 'always'`,
  }[to];
  return { text: `update ${names.layout} set ${change}`, values: [pipeline] };
}

/** Once no generation is left beside the active one, nobody is filled from texts that are kept for a filling alone. */
export function endMeanwhileSql(names: TableNames, pipeline: string): SqlStatement {
  return {
    text: `update ${names.layout} set keeps = 'no' where pipeline = $1 and keeps = 'meanwhile' and followers = '{}'`,
    values: [pipeline],
  };
}

/** Some of the texts of a pipeline that keeps none. */
export function removeTextsSql(names: TableNames, pipeline: string, limit: number): SqlStatement {
  return {
    text: `with gone as (
             delete from ${names.texts} where ctid = any(array(select ctid from ${names.texts} where pipeline = $1
               and (select keeps from ${names.layout} where pipeline = $1) = 'no' limit $2)) returning 1
           ) select count(*)::int as rows from gone`,
    values: [pipeline, limit],
  };
}

export function keepingSql(names: TableNames, pipeline: string): SqlStatement {
  return { text: `select keeps from ${names.layout} where pipeline = $1`, values: [pipeline] };
}
