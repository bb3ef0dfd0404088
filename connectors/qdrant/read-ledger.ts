import { ledgerFields, ledgerRecord, type LedgerRecord } from './ledger.js';
import type { CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';
import { settle, type Tell } from './settle.js';

const perRequest = 1000;

/**
 * Records by their points. A write that was committed and not settled, because its writer ended, is settled first: what
 * the ledger says is what readers see.
 */
export async function readLedger(
  port: QdrantPort,
  names: CollectionNames,
  ids: readonly string[],
  tell: Tell,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, LedgerRecord>> {
  const records: LedgerRecord[] = [];
  for (let from = 0; from < ids.length; from += perRequest) {
    const some = ids.slice(from, from + perRequest);
    records.push(
      ...(await port.retrieve(names.ledger, some, { payload: ledgerFields }, signal)).map(ledgerRecord),
    );
  }
  const open = records.filter(({ settled }) => !settled);
  if (open.length > 0)
    await settle(
      port,
      names,
      open.map((record) => ({ ...record, ...record.entry })),
      tell,
      signal,
    );
  return new Map(records.map((record) => [record.id, record]));
}
