import type { StoredDocument } from '../../src/contracts/generations.js';
import type { Chunk } from '../../src/elements/chunk.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { chunkFields, chunkOf } from './chunk-payload.js';
import { textPoint, type LedgerRecord } from './ledger.js';
import { documentKey, type CollectionNames } from './names.js';
import type { Payload, QdrantPort } from './port.js';
import { readLedger } from './read-ledger.js';
import { readTexts } from './read-texts.js';
import type { Tell } from './settle.js';

const perScroll = 1_000;
const mostLooks = 10;

/**
 * Documents of a generation, each as one write left it: one that is replaced while it is read is read again.
 * @param since the epoch since which texts are kept, undefined where they are not
 */
export async function readDocuments(
  port: QdrantPort,
  names: CollectionNames,
  pipeline: string,
  documentIds: readonly string[],
  tell: Tell,
  since: number | undefined,
  signal?: AbortSignal,
): Promise<readonly StoredDocument[]> {
  const keys = documentIds.map((id) => documentKey(pipeline, id));
  const found = new Map<string, StoredDocument>();
  let open: readonly string[] = keys;
  for (let looks = 0; looks < mostLooks && open.length > 0; looks += 1) {
    const records = await readLedger(port, names, open, tell, signal);
    const chunks = await readChunks(port, names, [...records.values()], signal);
    const texts = await readTexts(port, names.texts, [...records.values()], since, signal);
    for (const [key, record] of records) {
      const { entry, writeId } = record;
      const own = (writeId === undefined ? undefined : chunks.get(writeId)) ?? [];
      const point = textPoint(record, since);
      const given = point === undefined ? undefined : texts.get(point);
      // Where texts are removed meanwhile none is found at last.
      const whole = point === undefined || given !== undefined || looks === mostLooks - 1;
      if (own.length === entry.chunkCount && whole) found.set(key, { entry, chunks: own, given });
    }
    open = open.filter((key) => records.has(key) && !found.has(key));
  }
  if (open.length > 0)
    throw new MillraceError(
      'store_conflict',
      `A document was replaced ${mostLooks} times while it was read.`,
    );
  return keys.flatMap((key) => found.get(key) ?? []);
}

/** By their write, in the order of their ordinals. */
async function readChunks(
  port: QdrantPort,
  names: CollectionNames,
  records: readonly LedgerRecord[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, readonly Chunk[]>> {
  const stored = records.filter(({ entry }) => entry.chunkCount > 0);
  const chunks = new Map<string, Chunk[]>();
  if (stored.length === 0) return chunks;
  const filter = {
    must: [
      { key: 'doc', match: { any: stored.map(({ id }) => id) } },
      { key: 'write', match: { any: stored.flatMap(({ writeId }) => writeId ?? []) } },
    ],
  };
  const payload = ['write', 'tokens', 'hash', 'prefix', ...chunkFields];
  for (let offset: string | undefined; ;) {
    const request = { filter, limit: perScroll, payload, ...(offset !== undefined && { offset }) };
    const { points, next } = await port.scroll(names.chunks, request, signal);
    for (const point of points) {
      const write = point.payload['write'] as string;
      const known = chunks.get(write);
      if (known === undefined) chunks.set(write, [wholeChunk(point.payload)]);
      else known.push(wholeChunk(point.payload));
    }
    if (next === undefined) break;
    offset = next;
  }
  for (const own of chunks.values()) own.sort((a, b) => a.ordinal - b.ordinal);
  return chunks;
}

/** The terms of a chunk are counted anew by whoever wants them. */
function wholeChunk(payload: Payload): Chunk {
  const { chunkId: id, ...chunk } = chunkOf(payload);
  return {
    ...chunk,
    id,
    // Points of an earlier Millrace lack what stood before the text.
    embeddedText: ((payload['prefix'] as string | undefined) ?? '') + chunk.text,
    tokens: payload['tokens'] as number,
    hash: payload['hash'] as string,
  };
}
