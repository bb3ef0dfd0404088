import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files by relative path, with the folders they need. */
export async function writeFiles(root: string, files: Record<string, string | Uint8Array>): Promise<void> {
  const entries = Object.entries(files);
  for (const folder of new Set(entries.map(([path]) => dirname(join(root, path)))))
    await mkdir(folder, { recursive: true });
  for (let at = 0; at < entries.length; at += 100)
    await Promise.all(
      entries.slice(at, at + 100).map(([path, content]) => writeFile(join(root, path), content)),
    );
}
