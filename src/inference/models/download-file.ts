import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MillraceError } from '../../errors/millrace-error.js';
import { hashFile } from './file-digest.js';
import type { HubClient, HubFile } from './hub-client.js';
import type { ModelFile } from './model-folder.js';
import { giveUp, openPartialFile, type PartialFile } from './partial-file.js';

export interface Download {
  readonly hub: HubClient;
  readonly id: string;
  readonly commit: string;
  readonly file: HubFile;
  /** Where the complete file goes: it appears there whole and checked, or not at all. */
  readonly target: string;
  readonly signal?: AbortSignal | undefined;
  /** Bytes of this file that are there now. */
  onBytes(bytes: number): void;
}

/** A connection that gives nothing for this long is given up. */
const silentMs = 30_000;

/**
 * Fetches a file of the hub, going on where an earlier process or a broken connection left off.
 * @returns the size and digest of the file, now whole at its target
 * @throws MillraceError `remote_unavailable`, `model_not_found`, `model_corrupt` (the hub serves other bytes than it
 * lists), or the signal's reason; what was fetched stays for the next try
 */
export async function downloadFile(download: Download): Promise<ModelFile> {
  const { file, target } = download;
  await mkdir(dirname(target), { recursive: true });
  const partial = await openPartialFile(target);
  let whole = false;
  try {
    let found = await fetchInto(partial, download);
    // What an earlier process left may have been spoilt: the second try is from the first byte.
    if (found === 'altered' && partial.bytes > 0) found = await fetchInto({ ...partial, bytes: 0 }, download);
    if (found !== 'altered') {
      await partial.handle.sync();
      await rename(partial.path, target);
      whole = true;
      return found;
    }
    await rm(partial.path, { force: true });
    throw new MillraceError(
      'model_corrupt',
      `The hub served other bytes for ${file.path} of model ${download.id} than its ${file.digest.kind} digest ${file.digest.hex} says`,
      { hint: 'Try again later; a proxy between here and the hub may alter downloads.' },
    );
  } finally {
    if (!whole) await giveUp(partial);
    await partial.handle.close();
  }
}

/** Reads until the file is as long as it should be, then compares its digest. */
async function fetchInto(partial: PartialFile, download: Download): Promise<ModelFile | 'altered'> {
  const { file, signal } = download;
  let at = partial.bytes > file.bytes ? 0 : partial.bytes;
  await partial.handle.truncate(at);
  while (at < file.bytes) {
    const before = at;
    try {
      at = await fetchRest(partial, at, download);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof MillraceError) throw error;
      at = (await partial.handle.stat()).size;
      // A connection that broke midway is opened again at once, as long as each one brings something.
      if (at <= before) throw broken(download, error);
      continue;
    }
    if (at <= before) throw broken(download, undefined);
  }
  const { bytes, sha256, matches } = await hashFile(partial.path, file.digest, signal);
  return matches ? { bytes, sha256 } : 'altered';
}

/** One request. @returns the bytes that the file now has */
async function fetchRest({ handle }: PartialFile, from: number, download: Download): Promise<number> {
  const { hub, id, commit, file, onBytes } = download;
  const silence = new AbortController();
  const signal = AbortSignal.any([
    silence.signal,
    ...(download.signal === undefined ? [] : [download.signal]),
  ]);
  const timer = setTimeout(() => silence.abort(), silentMs);
  try {
    const response = await hub.open(id, commit, file.path, from, signal);
    let at = response.status === 206 ? from : 0;
    if (at === 0) await handle.truncate(0);
    if (response.body === null || response.status === 416) return at;
    const range = response.headers.get('content-range');
    if (at > 0 && !range?.startsWith(`bytes ${at}-`)) throw broken(download, undefined);
    for await (const part of response.body as AsyncIterable<Uint8Array>) {
      timer.refresh();
      const kept = part.subarray(0, file.bytes - at);
      for (let put = 0; put < kept.length;) {
        put += (await handle.write(kept, put, kept.length - put, at + put)).bytesWritten;
      }
      at += kept.length;
      onBytes(at);
      if (kept.length < part.length) break;
    }
    return at;
  } finally {
    clearTimeout(timer);
  }
}

function broken({ id, file }: Download, cause: unknown): MillraceError {
  return new MillraceError('remote_unavailable', `The download of ${file.path} of model ${id} broke off`, {
    cause,
    hint: 'Run it again: it goes on where it broke off.',
  });
}
