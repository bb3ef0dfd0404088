import type { GivenContent } from '../../src/contracts/sink.js';
import { textPoint, type LedgerRecord } from './ledger.js';
import type { QdrantPort } from './port.js';
import { givenOf } from './text-point.js';

const perRequest = 100;

/**
 * What the records point to, by the write that brought it. A text that is not there was replaced since its record was read.
 * @param since the epoch since which texts are kept
 */
export async function readTexts(
  port: QdrantPort,
  texts: string,
  records: readonly LedgerRecord[],
  since: number | undefined,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, GivenContent>> {
  const wanted = records.flatMap((record) => textPoint(record, since) ?? []);
  const found = new Map<string, GivenContent>();
  for (let from = 0; from < wanted.length; from += perRequest) {
    const some = wanted.slice(from, from + perRequest);
    for (const { id, payload } of await port.retrieve(texts, some, { payload: ['text', 'metadata'] }, signal))
      found.set(id, givenOf(payload));
  }
  return found;
}
