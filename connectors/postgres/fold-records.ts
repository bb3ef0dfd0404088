import type { FailedRecord } from '../../src/elements/failed-record.js';

/** One record a document, as it would be had they been put one after the other: a statement changes a row only once. */
export function foldRecords(records: readonly FailedRecord[]): readonly FailedRecord[] {
  const folded = new Map<string, FailedRecord>();
  for (const record of records) {
    const before = folded.get(record.documentId);
    if (before !== undefined && before.version > record.version) continue;
    const again = before?.version === record.version;
    folded.set(record.documentId, {
      ...record,
      attempts: record.attempts + (again ? before.attempts : 0),
      firstAt: again && before.firstAt < record.firstAt ? before.firstAt : record.firstAt,
    });
  }
  return [...folded.values()];
}
