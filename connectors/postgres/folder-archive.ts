import { mkdir, open, readdir, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { encodeFrame, frameReader, type Frame } from './frames.js';

interface Listing {
  /** Parents before their children. */
  readonly folders: readonly string[];
  /** In the order of the bytes that follow. */
  readonly files: readonly string[];
}

/** Files written at once: as many as Node has threads for them. */
const writers = 4;

/** All files and folders under a folder, in one gzipped frame. */
export async function packFolder(source: string): Promise<Uint8Array> {
  const entries = await readdir(source, { recursive: true, withFileTypes: true });
  const inside = (entry: (typeof entries)[number]) =>
    join(entry.parentPath, entry.name).slice(source.length + 1);
  const listing: Listing = {
    folders: entries
      .filter((entry) => entry.isDirectory())
      .map(inside)
      .sort(),
    files: entries.filter((entry) => entry.isFile()).map(inside),
  };
  const blobs: Uint8Array[] = [];
  for (const file of listing.files) blobs.push(await readFile(join(source, file)));
  return gzipSync(encodeFrame({ message: listing, blobs }));
}

/**
 * Writes an archive's files under a folder and waits until the disk has them.
 * @throws an Error when the archive is damaged (gzip checks its sum)
 */
export async function unpackFolder(archive: Uint8Array, target: string): Promise<void> {
  let frame: Frame | undefined;
  frameReader((whole) => (frame = whole))(gunzipSync(archive));
  if (frame === undefined) throw new Error('The archive is cut off.');
  const { folders, files } = frame.message as Listing;
  const { blobs } = frame;
  for (const folder of folders) await mkdir(join(target, folder), { recursive: true, mode: 0o700 });
  const queue = files.entries();
  await Promise.all(
    Array.from({ length: writers }, async () => {
      for (const [index, name] of queue)
        await synced(await open(join(target, name), 'wx', 0o600), (file) => file.writeFile(blobs[index]!));
    }),
  );
  for (const folder of ['', ...folders]) await syncFolder(join(target, folder));
}

export async function syncFolder(folder: string): Promise<void> {
  await synced(await open(folder), async () => {});
}

async function synced(file: FileHandle, work: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
