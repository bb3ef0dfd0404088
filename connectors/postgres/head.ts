import type { SqlConnection } from './connection.js';
import { quoteText, type TableNames } from './names.js';

/** Where a write goes: the rows of a generation. */
export interface WriteTarget {
  readonly pipeline: string;
  readonly generation: number;
  /** Of the rows. */
  readonly key: string;
  /** Columns of metadata fields, as `FoundLayout` has them. */
  readonly columnsJson: string;
  /** `active`: as the one that is read, whose followers are told; `follower`: as one that is being filled beside it. */
  readonly role: 'active' | 'follower';
  /** The write brings what sources gave, so it may be made where that is kept. */
  readonly keeping: boolean;
}

/**
 * Locks the head of a pipeline for the transaction, against changes alone, and gives no row unless the generation may be
 * written in this role now, and has these columns. What waits for a change of the head sees what came of it.
 * @param pipeline, generation and columns parameters
 */
export function lockHeadSql(
  names: TableNames,
  { role, keeping }: WriteTarget,
  pipeline: string,
  generation: string,
  columns: string,
): string {
  const may =
    role === 'active'
      ? `active = ${generation}::int and (paused_until is null or paused_until < clock_timestamp())${keeping ? '' : " and keeps = 'no'"}`
      : `${generation}::int = any(followers)`;
  return `select followers from ${names.layout} where pipeline = ${pipeline} and ${may}
    and coalesce(columns, '[]') = ${columns}::jsonb for share`;
}

/**
 * Notes that the followers are behind in documents.
 * @param head gives `followers`; @param documents gives `document_id`
 */
export function markSql(names: TableNames, pipeline: string, head: string, documents: string): string {
  return `insert into ${names.behind} (pipeline, generation, document_id)
    select ${pipeline}, f.generation, w.document_id
    from ${head}, unnest(head.followers) as f (generation), ${documents} as w
    on conflict (pipeline, generation, document_id) do update
      set mark = nextval(${quoteText(names.marks)}), claimed_until = '-infinity'`;
}

/**
 * Why a generation may not be written: others are waited for, it has other columns, given texts are wanted, or it is not what
 * it was.
 */
export async function whyNotWritable(
  connection: SqlConnection,
  names: TableNames,
  { pipeline, generation, role, keeping, columnsJson }: WriteTarget,
  signal?: AbortSignal,
): Promise<'paused' | 'columns' | 'keeps' | { readonly active: number | undefined }> {
  const text = `select active, keeps <> 'no' as keeps, coalesce(columns, '[]') = $2::jsonb as same
                from ${names.layout} where pipeline = $1`;
  const [row] = await connection.query({ text, values: [pipeline, columnsJson] }, signal);
  if (row?.['same'] === false) return 'columns';
  const active = row?.['active'] as number | undefined;
  if (role !== 'active' || active !== generation) return { active };
  return row!['keeps'] === true && !keeping ? 'keeps' : 'paused';
}
