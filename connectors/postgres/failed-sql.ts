import type { SqlStatement } from './connection.js';
import { quoteName } from './names.js';
import { takeTurns } from './schema-sql.js';

/** The statements of a table of failed elements, in a schema. */
export function failedSql(schemaName: string) {
  const schema = quoteName(schemaName);
  const table = `${schema}.failed`;
  return {
    table,
    /** Documents are told apart by a digest: the id of one may be what the store refused for its length. */
    create: [
      takeTurns,
      { text: `create schema if not exists ${schema}` },
      {
        text: `create table if not exists ${table} (
                 pipeline text collate "C" not null,
                 id_digest text collate "C" not null,
                 seq bigint generated always as identity,
                 document_id text not null,
                 version text collate "C" not null,
                 stage text not null,
                 code text not null,
                 attempts bigint not null,
                 first_at text collate "C" not null,
                 last_at text collate "C" not null,
                 record json not null,
                 primary key (pipeline, id_digest)
               )`,
      },
      { text: `create index if not exists failed_seq on ${table} (pipeline, seq)` },
    ] satisfies readonly SqlStatement[],
    /** A newer version replaces an older one; the same one adds its attempts and keeps its first time. */
    put: `insert into ${table} as held
            (pipeline, id_digest, document_id, version, stage, code, attempts, first_at, last_at, record)
          select $1, d, i, v, s, c, a, f, l, r
            from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[],
                        $9::text[], $10::json[]) as n (d, i, v, s, c, a, f, l, r)
            order by d collate "C"
          on conflict (pipeline, id_digest) do update set
            version = excluded.version, stage = excluded.stage, code = excluded.code,
            last_at = excluded.last_at, record = excluded.record,
            attempts = excluded.attempts + case when held.version = excluded.version then held.attempts else 0 end,
            first_at = case when held.version = excluded.version then least(held.first_at, excluded.first_at)
                            else excluded.first_at end
          where held.version <= excluded.version`,
    list: `select seq, octet_length(record::text) as bytes from ${table}
           where pipeline = $1 and seq > $2 and starts_with(document_id, $3)
             and ($4::text is null or code = $4) and ($5::text is null or stage = $5)
           order by seq limit $6`,
    read: `select record, attempts, first_at from ${table} where pipeline = $1 and seq = any($2::bigint[]) order by seq`,
    get: `select record, attempts, first_at from ${table} where pipeline = $1 and id_digest = $2`,
    discard: `with gone as (delete from ${table} using unnest($2::text[], $3::text[]) as n (d, v)
                where pipeline = $1 and id_digest = d and version <= v collate "C" returning 1)
              select count(*)::int as count from gone`,
    expire: `with gone as (delete from ${table} where pipeline = $1 and last_at < $2 collate "C" returning 1)
             select count(*)::int as count from gone`,
  };
}
