import { compareIds } from './entry-id.js';
import type { StreamInfo } from './stream-info.js';

/**
 * Entries that were trimmed before the group read them, beyond those already known (`drift`). It can be told where all
 * that the stream holds is unread: then what was added, less what was read, must be what is there.
 */
export function entriesLost({ length, firstId, lastId, added, group }: StreamInfo, drift: number): number {
  if (added === undefined || group?.read === undefined) return 0;
  const beyond = firstId ?? lastId;
  if (compareIds(beyond, group.delivered) <= 0) return 0;
  return Math.max(0, added - group.read - length - drift);
}

/** The drift where it shows by itself: everything was read, so whatever the counts differ by was lost. */
export function driftNow({ lastId, added, group }: StreamInfo): number | undefined {
  if (added === undefined || group?.read === undefined || group.delivered !== lastId) return undefined;
  return Math.max(0, added - group.read);
}
