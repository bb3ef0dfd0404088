import type { Redis } from 'ioredis';
import type { RedisSourceConfig } from './config.js';
import type { EntryId } from './entry-id.js';
import type { Held } from './held.js';

export interface KeepAliveOptions {
  readonly config: RedisSourceConfig;
  readonly group: string;
  readonly consumer: string;
  readonly held: Held;
}

const idsAtOnce = 1_000;
const pendingAtOnce = 10_000;

/**
 * Tells Redis that the held entries are being worked on: their idle time begins anew, their count of deliveries stays.
 * One that a peer took over meanwhile is left to it.
 */
export async function keepAlive(
  client: Redis,
  { config, group, consumer, held }: KeepAliveOptions,
): Promise<void> {
  if (held.isEmpty) return;
  const pending = (await client.xpending(
    ...([config.stream, group, '-', '+', pendingAtOnce, consumer] as const),
  )) as [EntryId, ...unknown[]][];
  const ours = held.ids();
  const ids = pending.flatMap(([id]) => (ours.has(id) ? [id] : []));
  for (let from = 0; from < ids.length; from += idsAtOnce)
    await client.xclaim(
      ...([config.stream, group, consumer, 0] as const),
      ...ids.slice(from, from + idsAtOnce),
      'JUSTID',
    );
}
