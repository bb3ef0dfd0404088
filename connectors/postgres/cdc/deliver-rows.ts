import type { Cleared, ElementsDelivery } from '../../../src/contracts/source.js';
import { versionOf } from '../../../src/elements/version.js';
import type { SliceOptions } from './backfill.js';
import { rowElement } from './row-element.js';
import type { Session } from './session.js';

export interface RowsOptions extends SliceOptions {
  settled(settle: () => void): Promise<void>;
  /** All rows are durable, and what they did not name is gone. */
  swept(): void;
}

/**
 * The next rows that were there before; once all were read, that what this source had before and nobody named is gone.
 * For a session that has a backfill.
 */
export async function deliverRows(
  session: Session,
  { rows, maxItemBytes, settled, swept }: RowsOptions,
): Promise<ElementsDelivery | Cleared> {
  const { reading, point } = session.backfill!;
  const version = versionOf(session.epoch, point);
  const slice = await reading.next(session.sql, { rows, maxItemBytes });
  if (slice === undefined)
    return {
      kind: 'cleared',
      scope: { prefix: '', except: [], since: version },
      commanded: false,
      settle: () =>
        settled(() => {
          session.backfill = undefined;
          swept();
        }),
    };
  const part = reading.handOver(slice);
  return {
    kind: 'elements',
    elements: slice.rows.map((row) => rowElement(slice.plan, row, version, maxItemBytes)),
    ...(reading.share !== undefined && { progress: reading.share }),
    settle: () => settled(() => reading.settle(part)),
  };
}
