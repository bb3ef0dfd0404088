import { columnType, type ColumnType, type TypeRow } from './column-type.js';
import type { SqlSession } from './sql-session.js';

/** `oidvector` and `int2vector` look like arrays and are printed otherwise. */
const sql = `
  select t.oid::int8 as oid, format_type(t.oid, null) as name, t.typtype as kind, e.typdelim as delimiter,
    case when t.typtype = 'd' then t.typbasetype
         when t.typcategory = 'A' and t.oid not in (22, 30) then t.typelem else 0 end::int8 as inner
  from pg_type t left join pg_type e on e.oid = t.typelem where t.oid = any($1::oid[])`;

/** Types by their oids, as the database has them; kept for as long as a session lasts. */
export class TypeCatalog {
  readonly #sql: SqlSession;
  readonly #known = new Map<number, ColumnType>();

  constructor(session: SqlSession) {
    this.#sql = session;
  }

  /** A type that is no longer there gives its values as they are printed. */
  async types(oids: readonly number[]): Promise<ReadonlyMap<number, ColumnType>> {
    await this.#load(oids);
    return this.#known;
  }

  async #load(oids: readonly number[]): Promise<void> {
    const missing = [...new Set(oids)].filter((oid) => !this.#known.has(oid));
    if (missing.length === 0) return;
    const rows = await this.#sql.rows(sql, [missing.map(String)]);
    const found = rows.map(([oid, name, kind, delimiter, inner]): TypeRow => {
      return {
        oid: Number(oid),
        name: name!,
        kind: kind!,
        delimiter: delimiter ?? '',
        inner: Number(inner),
      };
    });
    await this.#load(found.flatMap(({ inner }) => (inner === 0 ? [] : [inner])));
    for (const row of found)
      this.#known.set(row.oid, columnType(row, row.inner === 0 ? undefined : this.#known.get(row.inner)));
    for (const oid of missing)
      if (!this.#known.has(oid))
        this.#known.set(
          oid,
          columnType({ oid, name: `type ${oid}`, kind: 'b', delimiter: '', inner: 0 }, undefined),
        );
  }
}
