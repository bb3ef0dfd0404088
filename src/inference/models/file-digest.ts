import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ModelFile } from './model-folder.js';

/** What a file's content must hash to: SHA-256 (the hub's large files), or git's blob id (its small ones). */
export interface FileDigest {
  readonly kind: 'sha256' | 'git';
  readonly hex: string;
}

/** Reads a file's digest from the name that the hub's cache gives its blob. */
export function digestOfBlobName(name: string): FileDigest | undefined {
  if (/^[0-9a-f]{64}$/.test(name)) return { kind: 'sha256', hex: name };
  if (/^[0-9a-f]{40}$/.test(name)) return { kind: 'git', hex: name };
  return undefined;
}

/** Hashes a file. `matches` is true when there is nothing to compare with. Rejects with the signal's reason when it aborts. */
export async function hashFile(
  path: string,
  expected?: FileDigest,
  signal?: AbortSignal,
): Promise<ModelFile & { readonly matches: boolean }> {
  const { size } = await stat(path);
  const sha256 = createHash('sha256');
  // A git blob id is the SHA-1 of this header and the content.
  const git = expected?.kind === 'git' ? createHash('sha1').update(`blob ${size}\0`) : undefined;
  let bytes = 0;
  for await (const part of createReadStream(path, { highWaterMark: 1 << 20 })) {
    signal?.throwIfAborted();
    sha256.update(part as Buffer);
    git?.update(part as Buffer);
    bytes += (part as Buffer).length;
  }
  const hex = sha256.digest('hex');
  const found = git === undefined ? hex : git.digest('hex');
  return { bytes, sha256: hex, matches: expected === undefined || found === expected.hex };
}
