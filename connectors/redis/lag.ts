import type { Redis } from 'ioredis';
import type { SourceLag } from '../../src/contracts/source.js';
import { compareIds, partsOf, type EntryId } from './entry-id.js';
import { streamInfo } from './stream-info.js';

/**
 * How far a group is behind: entries that it has not read or not confirmed, and the age of the oldest of them by the time
 * in its id. Before Redis 7, and after deletions in the middle of a stream, the number of unread entries is not known.
 */
export async function measureLag(
  client: Redis,
  stream: string,
  group: string,
  now: number,
): Promise<SourceLag> {
  const about = (await client.xinfo('STREAM', stream)) as unknown[];
  const groups = (await client.xinfo('GROUPS', stream)) as unknown[];
  const { lastId, group: own } = streamInfo(about, groups, group);
  if (own === undefined) return {};
  const [pending, firstPending] = (await client.xpending(stream, group)) as [number, EntryId | null];
  const unread = compareIds(lastId, own.delivered) > 0;
  const [firstUnread] = unread ? await client.xrange(stream, `(${own.delivered}`, '+', 'COUNT', 1) : [];
  const waiting = [firstPending, firstUnread?.[0]].filter((id) => id !== null && id !== undefined);
  const oldest = waiting.sort(compareIds)[0];
  const entries = firstUnread === undefined ? pending : own.lag === undefined ? undefined : pending + own.lag;
  return {
    ...(entries !== undefined && { entries }),
    seconds: oldest === undefined ? 0 : Math.max(0, (now - Number(partsOf(oldest)[0])) / 1_000),
  };
}
