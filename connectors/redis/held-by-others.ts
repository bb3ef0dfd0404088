import type { Redis } from 'ioredis';
import type { TakeoverOptions } from './takeover.js';

/** How many entries other consumers of a group have taken and not confirmed. */
export async function heldByOthers(
  client: Redis,
  { config, group, consumer }: Pick<TakeoverOptions, 'config' | 'group' | 'consumer'>,
): Promise<number> {
  const [, , , consumers] = (await client.xpending(config.stream, group)) as [
    number,
    string | null,
    string | null,
    [string, string][] | null,
  ];
  return (consumers ?? []).reduce((sum, [name, count]) => sum + (name === consumer ? 0 : Number(count)), 0);
}
