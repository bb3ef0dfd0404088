import { createHash } from 'node:crypto';
import { readFile, readdir, statfs, unlink } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { withShortPath } from './short-path.js';

export const claimSuffix = '.sock';

export function ownerFolder(folder: string): string {
  return join(folder, 'owner');
}

export interface LivingClaim {
  readonly name: string;
  readonly socket: Socket;
}

/**
 * The living claim on the folder, of several the first by name, or undefined when there is none. Dead ones are removed.
 * @param own a claim to leave out
 * @throws MillraceError `store_locked` when a claim belongs to another machine, of which we cannot tell whether it lives
 */
export async function findClaim(folder: string, own?: string): Promise<LivingClaim | undefined> {
  const owners = ownerFolder(folder);
  for (const name of await claims(owners)) {
    if (name === own) continue;
    const socket = await tryConnect(owners, name);
    if (socket !== undefined) return { name, socket };
    await checkForeign(owners, name);
    await unlink(join(owners, name)).catch(() => undefined);
  }
  return undefined;
}

async function claims(owners: string): Promise<string[]> {
  try {
    return (await readdir(owners)).filter((name) => name.endsWith(claimSuffix)).sort();
  } catch (error) {
    if (isCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** @returns undefined when nobody listens there and nobody ever will */
async function tryConnect(owners: string, name: string): Promise<Socket | undefined> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await withShortPath(owners, (short) => connected(join(short, name)));
    } catch (error) {
      if (isCode(error, 'ECONNREFUSED') || isCode(error, 'ENOENT')) return undefined;
      // A full queue, or an end at this very moment; anything else, too, says that it is not known to be dead.
      if ((isCode(error, 'EAGAIN') || isCode(error, 'ECONNRESET')) && attempt < 50) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        continue;
      }
      throw new MillraceError('store_locked', `Another process owns ${owners} and cannot be reached.`, {
        cause: error,
        hint: 'Use the same user for all processes on this folder, or stop the other one.',
      });
    }
  }
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
  });
}

/**
 * On a disk that several machines can mount, a socket of another machine refuses us whether it lives or not. On a local
 * disk a claim of another kernel is one from before a restart.
 */
async function checkForeign(owners: string, name: string): Promise<void> {
  if (name.startsWith(`${await kernelMark()}-`)) return;
  const { type } = await statfs(owners);
  if (process.platform === 'linux' && localDisks.has(type)) return;
  throw new MillraceError('store_locked', `A process on another machine may own ${owners} (${name}).`, {
    hint: `If that machine is stopped, delete ${join(owners, name)}. Keep such a folder on a local disk.`,
  });
}

/** Names the running kernel, shared by all its containers; where it has no name, the host. */
export async function kernelMark(): Promise<string> {
  const mark = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => hostname());
  return createHash('sha256').update(mark).digest('hex').slice(0, 8);
}

/** Magic numbers of file systems that one kernel mounts alone (statfs(2)). */
const localDisks: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
  0x2fc12fc1, // zfs
  0xf2f52010, // f2fs
  0xca451a4e, // bcachefs
]);

/** A system error by its code, such as ENOENT. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
