import type { Reader } from './reader.js';

/** A table as the stream describes it before its rows, and again after each change of its shape. */
export interface Relation {
  /** Its oid. */
  readonly id: number;
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly RelationColumn[];
  /** Which columns are read, by their places; undefined: rows of this relation are of no interest. */
  readonly wanted: readonly boolean[] | undefined;
}

export interface RelationColumn {
  readonly name: string;
  /** The oid of its type. */
  readonly type: number;
  /** It is part of the replica identity: known of a deleted row. */
  readonly identifies: boolean;
}

export function readRelation(
  reader: Reader,
  wants: (relation: Relation) => readonly boolean[] | undefined,
): Relation {
  const id = reader.uint32();
  const schema = reader.name() || 'pg_catalog';
  const table = reader.name();
  reader.skip(1);
  const columns: RelationColumn[] = [];
  for (let left = reader.uint16(); left > 0; left -= 1) {
    const identifies = (reader.byte() & 1) === 1;
    const name = reader.name();
    const type = reader.uint32();
    reader.skip(4);
    columns.push({ name, type, identifies });
  }
  const described: Relation = { id, schema, table, columns, wanted: undefined };
  return { ...described, wanted: wants(described) };
}
