import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Artifacts } from '../../src/contracts/artifacts.js';
import type { Json } from '../../src/elements/metadata.js';
import type { SqlConnection, SqlStatement } from './connection.js';
import type { TableNames } from './names.js';

/** What a pipeline must remember, as rows beside its chunks. */
export function sqlArtifacts(connection: SqlConnection, names: TableNames, pipeline: string): Artifacts {
  const select = (name: string): SqlStatement => ({
    text: `select value from ${names.artifacts} where pipeline = $1 and name = $2`,
    values: [pipeline, name],
  });
  return {
    read: async (name) => {
      try {
        const rows = await connection.query(select(name));
        return rows[0]?.['value'] as Json | undefined;
      } catch (error) {
        // Nobody prepared this store yet, so it remembers nothing.
        if (error instanceof MillraceError && error.code === 'store_layout') return undefined;
        throw error;
      }
    },
    insert: async (name, value) => {
      const results = await connection.transaction([
        {
          text: `insert into ${names.artifacts} (pipeline, name, value) values ($1, $2, $3::json) on conflict do nothing`,
          values: [pipeline, name, JSON.stringify(value)],
        },
        select(name),
      ]);
      return results.at(-1)![0]!['value'] as Json;
    },
    replace: async (name, expected, value) => {
      const key = [pipeline, name, JSON.stringify(value)];
      const statement: SqlStatement =
        expected === undefined
          ? {
              text: `insert into ${names.artifacts} (pipeline, name, value) values ($1, $2, $3::json)
                on conflict do nothing returning 1 as done`,
              values: key,
            }
          : {
              text: `update ${names.artifacts} set value = $3::json
                where pipeline = $1 and name = $2 and value::jsonb = $4::jsonb returning 1 as done`,
              values: [...key, JSON.stringify(expected)],
            };
      const [rows] = await connection.transaction([statement]);
      return rows!.length > 0;
    },
  };
}
