import { stat } from 'node:fs/promises';
import type { Clock } from '../../contracts/context.js';
import { listTree } from '../models/hub-cache.js';

export interface WatchFolderOptions {
  readonly everyMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Tells, until the signal aborts, when the files of a folder have changed and come to rest: they are the same at two
 * looks, so that no copy in progress is taken for a model. The first rest is told too: what was loaded may be older. A
 * folder that cannot be read is one without files.
 */
export async function* watchFolder(
  path: string,
  { everyMs, clock, signal }: WatchFolderOptions,
): AsyncGenerator<void> {
  let told: string | undefined;
  let seen = await stamps(path);
  for (;;) {
    try {
      await clock.sleep(everyMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    const now = await stamps(path);
    if (now === seen && now !== told) {
      told = now;
      yield;
    }
    seen = now;
  }
}

/** What the system says of every file, without reading any. */
async function stamps(path: string): Promise<string> {
  const files = await listTree(path).catch(() => []);
  const lines = await Promise.all(
    files.sort().map(async (file) => {
      const found = await stat(file).catch(() => undefined);
      return `${file} ${found?.ino} ${found?.size} ${found?.mtimeMs} ${found?.ctimeMs}`;
    }),
  );
  return lines.join('\n');
}
