import { MillraceError } from '../../src/errors/millrace-error.js';
import { fromWire, type WireError } from '../../src/errors/wire.js';
import { Worker } from 'node:worker_threads';
import type { OwnerState, WorkerInput } from './pglite-worker.js';
import type { AnswerMessage } from './store-request.js';
import { pendingRequests, type StoreSession } from './store-session.js';

/**
 * Starts the thread that owns a folder.
 * @returns undefined when another process owns it
 * @throws MillraceError `config_invalid`, `store_locked` as `claimFolder`
 */
export async function startOwner(folder: string): Promise<StoreSession | undefined> {
  const worker = new Worker(new URL('./pglite-worker.js', import.meta.url), {
    workerData: { folder } satisfies WorkerInput,
    // PGlite prints notices of its start; they are no business of the program that embeds us.
    stdout: true,
    stderr: true,
  });
  const pending = pendingRequests((message) => {
    // The bytes of a COPY were made for this request alone, so they move instead of being copied.
    const { request } = message;
    const steps = request.kind === 'transaction' ? request.steps : [];
    const buffers = steps.flatMap((step) => ('copy' in step ? [step.data.buffer as ArrayBuffer] : []));
    worker.postMessage(message, buffers);
  });
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  void exited.then(() => pending.lose(`The thread of the store ${folder} has ended.`));
  const state = await new Promise<OwnerState>((resolve, reject) => {
    worker.on('message', (message: OwnerState | AnswerMessage | { readonly startError: WireError }) => {
      if (typeof message === 'string') resolve(message);
      else if ('startError' in message) reject(fromWire(message.startError));
      else pending.answer(message);
    });
    worker.on('error', (error) => {
      const reason = `The thread of the store ${folder} failed.`;
      pending.lose(reason, error);
      reject(new MillraceError('worker_crashed', reason, { cause: error }));
    });
  });
  if (state === 'other') {
    await exited;
    return undefined;
  }
  return {
    get lost() {
      return pending.lost;
    },
    send: pending.send,
    close: async () => {
      await pending.idle();
      worker.postMessage('close');
      await exited;
    },
  };
}
