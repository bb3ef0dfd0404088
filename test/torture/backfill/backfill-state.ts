import type pg from 'pg';
import type { SourceMemory } from '../../../connectors/postgres/cdc/memory.js';

export interface BackfillState {
  readonly epoch: number;
  /** Rows read and durable. */
  readonly rows: number;
  readonly over: boolean;
}

/** How far the reading of all rows has come, as the store remembers it; undefined before it began. */
export async function backfillState(
  store: pg.Client,
  schema: string,
  pipeline: string,
  source: string,
): Promise<BackfillState | undefined> {
  const { rows: there } = await store.query<{ there: boolean }>(
    'select to_regclass($1) is not null as there',
    [`${schema}.artifacts`],
  );
  if (there[0]?.there !== true) return undefined;
  const { rows } = await store.query<{ value: SourceMemory }>(
    `select value from ${schema}.artifacts where pipeline = $1 and name = $2`,
    [pipeline, `source ${source}`],
  );
  const memory = rows[0]?.value;
  if (memory === undefined) return undefined;
  return { epoch: memory.epoch, rows: memory.backfill?.rows ?? 0, over: memory.backfill === null };
}
