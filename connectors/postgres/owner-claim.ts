import { randomBytes } from 'node:crypto';
import { chmod, link, mkdir, readdir, unlink } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { claimSuffix, findClaim, isCode, kernelMark, ownerFolder } from './owner-lookup.js';
import { withShortPath } from './short-path.js';

/** Ownership of a folder, for as long as this process lives or until it is released. */
export interface Claim {
  /** Called last, when the folder is no longer touched. */
  release(): Promise<void>;
}

/**
 * Takes a folder for this process, or returns undefined when another one holds it.
 *
 * A claim is a listening Unix socket in the folder. The kernel ends it with the process, however that dies, and a
 * connection shows whether it lives, also from another container on the same kernel. It gets its name only once it
 * listens, so a socket that refuses is dead for good and may be removed by anyone. Each claimant first listens, then
 * looks at all others, and holds the folder only when none lives: of two that come at once at most one can see that.
 * Meanwhile the first by name waits for the others, and those yield.
 * @param onSocket gets each connection; a process that only looks hangs up at once
 */
export async function claimFolder(
  folder: string,
  onSocket: (socket: Socket) => void,
): Promise<Claim | undefined> {
  const owners = ownerFolder(folder);
  const name = `${await kernelMark()}-${process.pid}-${randomBytes(6).toString('hex')}`;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    onSocket(socket);
  });
  try {
    await mkdir(owners, { recursive: true, mode: 0o700 });
    await withShortPath(owners, (short) => listen(server, join(short, name)));
    await chmod(join(owners, name), 0o600);
    await link(join(owners, name), join(owners, name + claimSuffix));
    await unlink(join(owners, name)).catch(() => undefined);
  } catch (error) {
    server.close();
    await unlink(join(owners, name)).catch(() => undefined);
    // A new owner tidied up around us.
    if (isCode(error, 'ENOENT')) return undefined;
    throw new MillraceError('config_invalid', `The folder ${folder} cannot be guarded by a socket in it.`, {
      cause: error,
      hint: 'Choose a folder on a local disk that this user may write to, or use a Postgres server.',
    });
  }

  const release = async () => {
    await unlink(join(owners, name + claimSuffix)).catch(() => undefined);
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroySoon();
    await closed;
  };
  try {
    for (let look = 0; look < looks; look++) {
      const other = await findClaim(folder, name + claimSuffix);
      if (other === undefined) {
        await removeLeftovers(owners, name);
        return { release };
      }
      other.socket.destroy();
      if (other.name < name) break;
      await delay(lookEveryMs);
    }
  } catch (error) {
    await release();
    throw error;
  }
  await release();
  return undefined;
}

/** How often, and how long in all, the first of several claimants waits for the others to yield. */
const lookEveryMs = 20;
const looks = 50;

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Sockets of processes that died before they got their name, or are at it: those find it gone and yield. */
async function removeLeftovers(owners: string, own: string): Promise<void> {
  for (const entry of await readdir(owners))
    if (!entry.endsWith(claimSuffix) && !entry.startsWith(own))
      await unlink(join(owners, entry)).catch(() => undefined);
}
