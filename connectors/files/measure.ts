import type { Folder } from './folder.js';
import { listFiles } from './list.js';
import { lookAt } from './stamp.js';

/** Bytes of all files that will be read, for the progress. */
export async function measureFolder(folder: Folder, signal: AbortSignal): Promise<number> {
  const silent = { spare: () => undefined, notify: () => undefined };
  let bytes = 0;
  for await (const block of listFiles(folder, silent, signal))
    for (let at = 0; at < block.length && !signal.aborted; at += 16) {
      const looks = await Promise.all(block.slice(at, at + 16).map((path) => lookAt(folder, path)));
      for (const look of looks) bytes += look?.size ?? 0;
    }
  return bytes;
}
