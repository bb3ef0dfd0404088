import type { KeptTexts } from '../../src/contracts/kept-texts.js';
import type { Metadata } from '../../src/elements/metadata.js';
import type { SqlConnection } from './connection.js';
import { planByKey } from './fence-sql.js';
import {
  endMeanwhileSql,
  keepingSql,
  missingTextsSql,
  offerTextsSql,
  readTextsSql,
  removeTextsSql,
  setKeepingSql,
} from './kept-texts-sql.js';
import type { TableNames } from './names.js';

/** What the sources of a pipeline gave, in a table beside the ledger. */
export function sqlKeptTexts(connection: SqlConnection, names: TableNames, pipeline: string): KeptTexts {
  return {
    keeping: async (signal) => {
      const [row] = await connection.query(keepingSql(names, pipeline), signal);
      return (row?.['keeps'] as 'no' | 'meanwhile' | 'always' | undefined) ?? 'no';
    },
    begin: async (signal) => {
      await connection.transaction([setKeepingSql(names, pipeline, 'meanwhile')], signal);
    },
    read: async (ids, signal) => {
      const steps = [planByKey, readTextsSql(names, pipeline, ids)];
      const rows = (await connection.transaction(steps, signal)).at(-1)!;
      return new Map(
        rows.map((row) => [
          row['document_id'] as string,
          { text: row['text'] as string, metadata: row['metadata'] as Metadata },
        ]),
      );
    },
    missing: async (signal) => {
      const [row] = await connection.query(missingTextsSql(names, pipeline), signal);
      return { documents: row!['documents'] as number, first: (row!['first'] as string | null) ?? undefined };
    },
    offer: async (source, documents, signal) => {
      if (documents.length === 0) return 0;
      const steps = [planByKey, offerTextsSql(names, pipeline, source, documents)];
      return (await connection.transaction(steps, signal)).at(-1)![0]!['taken'] as number;
    },
  };
}

/** Rows of one removal: a statement that anybody can wait for. */
const removedAtOnce = 1_000;

/** Ends the keeping of texts that nothing is filled from any more, and removes them. */
export async function endKeeping(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  signal?: AbortSignal,
): Promise<void> {
  await connection.transaction([endMeanwhileSql(names, pipeline)], signal);
  for (let removed = removedAtOnce; removed === removedAtOnce;) {
    const steps = [planByKey, removeTextsSql(names, pipeline, removedAtOnce)];
    const rows = (await connection.transaction(steps, signal)).at(-1)!;
    removed = rows[0]!['rows'] as number;
  }
}

/** Does as the configuration says. */
export async function setKeeping(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  keep: boolean,
): Promise<void> {
  await connection.transaction([setKeepingSql(names, pipeline, keep ? 'always' : 'no')]);
  if (!keep) await endKeeping(connection, names, pipeline);
}
