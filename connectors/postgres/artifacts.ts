import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Artifacts } from '../../src/contracts/artifacts.js';
import type { Json } from '../../src/elements/metadata.js';
import type { SqlConnection, SqlStatement } from './connection.js';
import type { TableNames } from './names.js';

/** What must be remembered, as rows beside the chunks. @param keyOf the key of a pipeline or a generation */
export function sqlArtifacts(
  connection: SqlConnection,
  names: TableNames,
  keyOf: () => Promise<string>,
): Artifacts {
  const select = (of: string, name: string): SqlStatement => ({
    text: `select value from ${names.artifacts} where pipeline = $1 and name = $2`,
    values: [of, name],
  });
  return {
    read: async (name) => {
      try {
        const rows = await connection.query(select(await keyOf(), name));
        return rows[0]?.['value'] as Json | undefined;
      } catch (error) {
        // Nobody prepared this store yet, so it remembers nothing.
        if (error instanceof MillraceError && error.code === 'store_layout') return undefined;
        throw error;
      }
    },
    insert: async (name, value) => {
      const of = await keyOf();
      const results = await connection.transaction([
        {
          text: `insert into ${names.artifacts} (pipeline, name, value) values ($1, $2, $3::json) on conflict do nothing`,
          values: [of, name, JSON.stringify(value)],
        },
        select(of, name),
      ]);
      return results.at(-1)![0]!['value'] as Json;
    },
    replace: async (name, expected, value) => {
      const key = [await keyOf(), name, JSON.stringify(value)];
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
