import { LRUCache } from 'lru-cache';
import type { Clock } from '../../contracts/context.js';
import type { CacheEntry, LookupCache } from '../../contracts/lookup.js';

interface Kept {
  readonly value: string;
  readonly until: number;
}

/** Keeps answers in this process; the least recently used go first. @param entries how many it keeps at most */
export function createMemoryCache(entries: number, clock: Clock): LookupCache {
  const kept = new LRUCache<string, Kept>({ max: entries });
  const read = (key: string): string | undefined => {
    const found = kept.get(key);
    if (found === undefined || found.until > clock.now()) return found?.value;
    kept.delete(key);
    return undefined;
  };
  return {
    get: async (keys) => keys.map(read),
    set: async (some: readonly CacheEntry[]) => {
      const now = clock.now();
      for (const { key, value, ttlMs } of some) kept.set(key, { value, until: now + ttlMs });
    },
    close: async () => kept.clear(),
  };
}
