import type { FailedFilter, FailedRecord, FailedStore } from '../contracts/failed-store.js';
import { MillraceError } from '../errors/millrace-error.js';

/**
 * Failed elements by the ids of their documents, or by a filter.
 * @throws MillraceError `config_invalid` for an id without a record
 */
export async function* failedOf(
  failed: FailedStore,
  choice: FailedFilter | readonly string[],
): AsyncGenerator<FailedRecord> {
  if (!isIds(choice)) {
    yield* failed.list(choice);
    return;
  }
  for (const id of new Set(choice)) {
    const record = await failed.get(id);
    if (record === undefined)
      throw new MillraceError(
        'config_invalid',
        `There is no failed element with the id ${JSON.stringify(id)}.`,
        {
          hint: '`millrace failed list` shows those that there are.',
        },
      );
    yield record;
  }
}

function isIds(choice: FailedFilter | readonly string[]): choice is readonly string[] {
  return Array.isArray(choice);
}
