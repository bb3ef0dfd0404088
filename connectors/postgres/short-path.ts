import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs `work` with a short name for a folder: the address of a Unix socket ends at 103 bytes (macOS) or 107 (Linux),
 * while folders go deeper. The name is a link in a folder of our own that nobody else may change.
 */
export async function withShortPath<T>(folder: string, work: (short: string) => Promise<T>): Promise<T> {
  const own = await mkdtemp(join(tmpdir(), 'mr-'));
  try {
    const short = join(own, 'l');
    await symlink(folder, short);
    return await work(short);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}
