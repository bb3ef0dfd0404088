import type { Socket } from 'node:net';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { encodeFrame, frameReader } from './frames.js';
import { findClaim } from './owner-lookup.js';
import { protocol, withoutBlobs } from './owner-server.js';
import type { AnswerMessage } from './store-request.js';
import { pendingRequests, type StoreSession } from './store-session.js';
import { untilAborted } from '../../src/errors/until-aborted.js';

interface Hello {
  readonly protocol: number;
  readonly pid: number;
}

/** How long a living owner may take to greet: it may be building an index. */
const greetMs = 120_000;

/**
 * A session with the process that owns a folder, or undefined when none does (or it ended while we asked).
 * @throws MillraceError `store_locked` when the owner does not answer or is another version of Millrace
 */
export async function joinOwner(folder: string, signal?: AbortSignal): Promise<StoreSession | undefined> {
  const claim = await findClaim(folder);
  if (claim === undefined) return undefined;
  const { socket } = claim;
  let onFrame = (_message: unknown) => {};
  const read = frameReader(({ message }) => onFrame(message));
  socket.on('data', read);
  let timer: NodeJS.Timeout | undefined;
  try {
    const hello = await untilAborted(
      new Promise<Hello | undefined>((resolve, reject) => {
        onFrame = (message) => resolve(message as Hello);
        socket.once('close', () => resolve(undefined));
        // Its owner may have ended since it was reached: then nothing more is told of it.
        if (socket.destroyed) resolve(undefined);
        timer = setTimeout(() => reject(silentOwner(folder)), greetMs);
      }),
      signal,
    );
    if (hello === undefined) return undefined;
    if (hello.protocol !== protocol) throw otherVersion(folder, hello);
    const session = socketSession(socket, folder, hello);
    onFrame = (message) => session.answer(message as AnswerMessage);
    return session;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function socketSession(
  socket: Socket,
  folder: string,
  { pid }: Hello,
): StoreSession & { answer(message: AnswerMessage): void } {
  const pending = pendingRequests(({ id, request }) => {
    const { request: bare, blobs } = withoutBlobs(request);
    socket.write(encodeFrame({ message: { id, request: bare }, blobs }));
  });
  socket.once('close', () => pending.lose(`The process (${pid}) that owned the store ${folder} has ended.`));
  if (socket.destroyed) pending.lose(`The process (${pid}) that owned the store ${folder} has ended.`);
  return {
    get lost() {
      return pending.lost;
    },
    answer: pending.answer,
    send: pending.send,
    close: async () => {
      await pending.idle();
      socket.destroySoon();
    },
  };
}

function silentOwner(folder: string): MillraceError {
  return new MillraceError('store_locked', `The process that owns the store ${folder} does not answer.`, {
    hint: 'It may be suspended: resume or stop it.',
  });
}

function otherVersion(folder: string, { pid }: Hello): MillraceError {
  return new MillraceError(
    'store_locked',
    `Process ${pid}, which owns the store ${folder}, runs another version of Millrace.`,
    {
      hint: 'Stop it, or use the same version.',
    },
  );
}
