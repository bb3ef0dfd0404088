import type { SqlStatement } from './connection.js';
import { keptTextsStatements } from './kept-texts-sql.js';
import { quoteText, type TableNames } from './names.js';
import { viewColumnStatement } from './view-sql.js';

/** Rises when the tables change in a way that an older Millrace would get wrong. */
export const layoutVersion = 7;

/** Any number: the processes that make these tables take turns by it. */
const advisoryKey = 0x6d696c6c;

export const takeTurns: SqlStatement = { text: `select pg_advisory_xact_lock(${advisoryKey})` };

/**
 * A row of the layout for each generation, by its key. That of the first is also the head of its pipeline: the number of
 * the active one, those that follow it, the last number given, the columns of metadata fields. Writers lock the head, so that nothing of it changes while
 * they write.
 */
export function generationStatements(names: TableNames): readonly string[] {
  return [
    `alter table ${names.layout}
       add column if not exists active int not null default 1,
       add column if not exists followers int[] not null default '{}',
       add column if not exists generations int not null default 1,
       add column if not exists paused_until timestamptz,
       add column if not exists state text not null default 'active',
       add column if not exists since timestamptz not null default now(),
       add column if not exists columns jsonb,
       add column if not exists filled jsonb`,
    `create sequence if not exists ${names.marks}`,
    `create table if not exists ${names.behind} (
       pipeline text collate "C" not null,
       generation int not null,
       document_id text collate "C" not null,
       mark bigint not null default nextval(${quoteText(names.marks)}),
       claimed_until timestamptz not null default '-infinity',
       primary key (pipeline, generation, document_id)
     )`,
  ];
}

/**
 * Statements that make what is missing. Ids and versions are compared byte by byte, hence the collation. Vectors stay
 * in the row (`storage main`), so that an exact search reads no other table; texts over 2 KB move out. Their columns have
 * no width: pipelines of different widths share the table, and each space has an index of its own. A column more comes
 * with the first pipeline that has so many spaces.
 */
export function schemaStatements(names: TableNames): readonly SqlStatement[] {
  return [
    takeTurns.text,
    'create extension if not exists vector',
    `create schema if not exists ${names.schema}`,
    `create table if not exists ${names.layout} (
       pipeline text collate "C" primary key,
       version int not null,
       width int not null,
       spaces json
     )`,
    ...generationStatements(names),
    ...keptTextsStatements(names),
    viewColumnStatement(names),
    `create table if not exists ${names.ledger} (
       pipeline text collate "C" not null,
       document_id text collate "C" not null,
       source text collate "C" not null,
       version text collate "C",
       state text not null,
       content_hash text,
       chain_digest text,
       chunk_count int not null default 0,
       words int,
       failed_version text collate "C",
       updated_at timestamptz not null default now(),
       primary key (pipeline, document_id)
     )`,
    `create table if not exists ${names.chunks} (
       pipeline text collate "C" not null,
       id uuid not null,
       document_id text collate "C" not null,
       ordinal int not null,
       "start" int not null,
       "end" int not null,
       tokens int not null,
       hash text not null,
       text text not null,
       prefix text,
       metadata jsonb not null,
       embedding vector,
       primary key (pipeline, id)
     )`,
    `alter table ${names.chunks} alter column embedding set storage main, set (toast_tuple_target = 8160)`,
    `create index if not exists chunks_document on ${names.chunks} (pipeline, document_id)`,
    `create table if not exists ${names.artifacts} (
       pipeline text collate "C" not null,
       name text collate "C" not null,
       value json not null,
       primary key (pipeline, name)
     )`,
  ].map((text) => ({ text }));
}
