import { zeroId, type EntryId } from './entry-id.js';

/** What `XINFO STREAM` and `XINFO GROUPS` tell of a stream and of one group. */
export interface StreamInfo {
  /** Entries in it. */
  readonly length: number;
  /** The greatest id it ever gave. */
  readonly lastId: EntryId;
  /** Of its first entry; undefined when it is empty. */
  readonly firstId: EntryId | undefined;
  /** Entries that were ever added; undefined before Redis 7. */
  readonly added: number | undefined;
  readonly group: GroupInfo | undefined;
}

export interface GroupInfo {
  readonly delivered: EntryId;
  /** Entries that it has read, as Redis counts them; undefined when Redis has lost count. */
  readonly read: number | undefined;
  /** Entries that it has not read; undefined when Redis cannot tell. */
  readonly lag: number | undefined;
}

/** @param stream and groups replies: names and values by turns */
export function streamInfo(stream: readonly unknown[], groups: readonly unknown[], name: string): StreamInfo {
  const about = fieldsOf(stream);
  const first = about.get('first-entry') as readonly [EntryId, unknown] | null | undefined;
  const group = groups
    .map((one) => fieldsOf(one as readonly unknown[]))
    .find((one) => one.get('name') === name);
  return {
    length: Number(about.get('length')),
    lastId: String(about.get('last-generated-id') ?? zeroId),
    firstId: first?.[0],
    added: numberOf(about.get('entries-added')),
    group: group && {
      delivered: String(group.get('last-delivered-id')),
      read: numberOf(group.get('entries-read')),
      lag: numberOf(group.get('lag')),
    },
  };
}

function fieldsOf(reply: readonly unknown[]): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  for (let at = 0; at + 1 < reply.length; at += 2) fields.set(String(reply[at]), reply[at + 1]);
  return fields;
}

function numberOf(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}
