import type { FailedRecord } from './failed-record.js';

/** Characters of text in one write, after which the next one begins. */
const writeSize = 8 << 20;

/** Records in their order, in groups whose text is sent or appended at once. */
export function* inWrites(records: readonly FailedRecord[]): Generator<readonly FailedRecord[]> {
  let group: FailedRecord[] = [];
  let size = 0;
  for (const record of records) {
    group.push(record);
    size += record.element.text?.length ?? 0;
    if (size < writeSize) continue;
    yield group;
    group = [];
    size = 0;
  }
  if (group.length > 0) yield group;
}
