import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { MillraceError } from '../errors/millrace-error.js';

/** A folder for temporary files of this process. */
export interface TemporaryRoot {
  readonly path: string;
  /** Removes it. */
  close(): Promise<void>;
}

/** Listens for as long as the process lives, however it dies; it has this name only once it listens. */
const livingMark = 'owner';

/**
 * Makes a folder among the temporary files, and removes those that processes of this user and machine left which were
 * killed. A Unix socket in each tells whether its process lives, also that of another container that shares the folder.
 * Where none can be made (Windows, a path over some hundred bytes) the folder is left by a kill.
 * @throws MillraceError `config_invalid` when there is no place for it
 */
export async function openTemporaryRoot(): Promise<TemporaryRoot> {
  const prefix = `millrace-models-${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}-`;
  await removeDead(prefix);
  const path = await mkdtemp(join(tmpdir(), prefix)).catch((cause: NodeJS.ErrnoException) => {
    throw new MillraceError('config_invalid', `No folder can be made in ${tmpdir()} (${cause.code})`, {
      cause,
      hint: 'Name a folder for temporary files by TMPDIR that is there, has room and may be written to.',
    });
  });
  const server = await listen(join(path, 'new')).catch(() => undefined);
  if (server !== undefined) await rename(join(path, 'new'), join(path, livingMark));
  return {
    path,
    async close() {
      server?.close();
      await rm(path, { recursive: true, force: true });
    },
  };
}

async function removeDead(prefix: string): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(prefix))) {
    const path = join(tmpdir(), name);
    const mark = await stat(join(path, livingMark)).catch(() => undefined);
    const ours = mark?.isSocket() === true && mark.uid === process.getuid?.();
    // What cannot be removed now is left to the next one.
    if (ours && (await isDead(join(path, livingMark))))
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Only a refusal says so: a process too busy to answer still holds its socket. */
function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(path, () => {
      server.unref();
      server.off('error', reject);
      // Looks that cannot be taken are no fault of this process.
      server.on('error', () => undefined);
      resolve(server);
    });
  });
}
