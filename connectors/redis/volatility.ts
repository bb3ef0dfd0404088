import type { Redis } from 'ioredis';

/** Why what is written to this Redis may be lost: it keeps nothing on disk, or throws keys away. */
export async function volatility(client: Redis): Promise<string | undefined> {
  // Two calls, since one for several sections needs Redis 7. A user who may not ask is told nothing.
  const sections = await Promise.all([client.info('persistence'), client.info('memory')]).catch(() => []);
  const said = sections.join('\n');
  const appends = /^aof_enabled:(\d)/m.exec(said)?.[1];
  const evicts = /^maxmemory_policy:(allkeys-\S+)/m.exec(said)?.[1];
  if (appends === '0')
    return 'This Redis keeps no append-only file: failed elements in it are lost when it crashes. Set `appendonly yes`.';
  if (evicts !== undefined)
    return `This Redis throws keys away when its memory is full (maxmemory-policy ${evicts}), failed elements too. Set \`noeviction\`.`;
  return undefined;
}
