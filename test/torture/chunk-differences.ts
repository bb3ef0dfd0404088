import type pg from 'pg';

export interface ChunkDifferencesInput {
  readonly pipeline: string;
  /** The schema that went through the torture, and one that was filled undisturbed with what must be there. */
  readonly schema: string;
  readonly reference: string;
  /** Only of these documents; undefined: of all. */
  readonly ids?: readonly string[];
  /** At most so many of each sort. */
  readonly limit: number;
}

const columns = `document_id, id, ordinal, "start", "end", tokens, hash, text, metadata::text, md5(vector_send(embedding))`;

/** Chunks, their vectors among them, that are not the same in two schemas, and those that are there twice. */
export async function chunkDifferences(client: pg.Client, input: ChunkDifferencesInput): Promise<string[]> {
  const { pipeline, schema, reference, ids, limit } = input;
  const where = `pipeline = $1 and ($2::text[] is null or document_id = any($2))`;
  const found = async (what: string, text: string) => {
    const { rows } = await client.query<{ id: string }>(`${text} limit ${limit}`, [pipeline, ids]);
    return rows.map(({ id }) => `${id}: ${what}`);
  };
  const only = (one: string, other: string) =>
    `select distinct document_id as id from (select ${columns} from ${one}.chunks where ${where}
     except all select ${columns} from ${other}.chunks where ${where}) as differing`;
  return [
    ...(await found(
      'two chunks in one place',
      `select document_id as id from ${schema}.chunks where ${where} group by document_id, ordinal having count(*) > 1`,
    )),
    ...(await found('a chunk that must not be there', only(schema, reference))),
    ...(await found('a chunk that is missing', only(reference, schema))),
  ];
}
