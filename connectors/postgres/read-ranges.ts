import type { ChunkRange, StoredChunk } from '../../src/contracts/chunk-search.js';
import { chunkColumns, chunkOf } from './chunk-row.js';
import type { SqlConnection } from './connection.js';
import type { TableNames } from './names.js';

const greatest = 2 ** 31 - 1;
const within = (ordinal: number) => Math.min(greatest, Math.max(0, ordinal));

/** The chunks of each range, all seen at one moment. */
export async function readRanges(
  connection: SqlConnection,
  names: TableNames,
  pipeline: string,
  ranges: readonly ChunkRange[],
  signal?: AbortSignal,
): Promise<readonly (readonly StoredChunk[])[]> {
  const found = ranges.map((): StoredChunk[] => []);
  if (ranges.length === 0) return found;
  const rows = await connection.query(
    {
      text: `select range.place::int as place, chunk.*
             from unnest($2::text[], $3::int[], $4::int[]) with ordinality as range (of_document, first, last, place)
             join lateral (
               select ${chunkColumns} from ${names.chunks}
               where pipeline = $1 and document_id = range.of_document and ordinal between range.first and range.last
             ) as chunk on true
             order by range.place, chunk.ordinal`,
      values: [
        pipeline,
        ranges.map(({ documentId }) => documentId),
        ranges.map(({ first }) => within(first)),
        ranges.map(({ last }) => within(last)),
      ],
    },
    signal,
  );
  for (const row of rows) found[(row['place'] as number) - 1]!.push(chunkOf(row));
  return found;
}
