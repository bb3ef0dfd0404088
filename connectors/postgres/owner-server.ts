import type { Socket } from 'node:net';
import { toWire } from '../../src/errors/wire.js';
import type { SqlStep } from './connection.js';
import { encodeFrame, frameReader } from './frames.js';
import type { AnswerMessage, RequestHandler, RequestMessage, StoreRequest } from './store-request.js';

/** Said first by an owner that is ready to serve. Another number means another set of messages. */
export const protocol = 1;

/** Serves one other process: answers come in the order in which the requests are done. */
export function serveSocket(socket: Socket, handle: RequestHandler): void {
  const read = frameReader(({ message, blobs }) => {
    const { id, request } = message as RequestMessage;
    const answer = (rest: Omit<AnswerMessage, 'id'>) => {
      if (!socket.destroyed) socket.write(encodeFrame({ message: { id, ...rest }, blobs: [] }));
    };
    handle(withBlobs(request, blobs)).then(
      (result) => answer({ result }),
      (error: unknown) => answer({ error: toWire(error) }),
    );
  });
  socket.on('data', (piece) => {
    try {
      read(piece);
    } catch {
      // Not a message of ours: whoever it is, there is nothing to tell.
      socket.destroy();
    }
  });
  socket.write(encodeFrame({ message: { protocol, pid: process.pid }, blobs: [] }));
}

/** The bytes of COPY steps travel beside the JSON. */
export function withoutBlobs(request: StoreRequest): {
  readonly request: StoreRequest;
  readonly blobs: Uint8Array[];
} {
  if (request.kind !== 'transaction') return { request, blobs: [] };
  const blobs: Uint8Array[] = [];
  const steps = request.steps.map((step): SqlStep => {
    if (!('copy' in step)) return step;
    blobs.push(step.data);
    return { copy: step.copy, data: new Uint8Array() };
  });
  return { request: { kind: 'transaction', steps }, blobs };
}

function withBlobs(request: StoreRequest, blobs: readonly Uint8Array[]): StoreRequest {
  if (request.kind !== 'transaction') return request;
  let next = 0;
  const steps = request.steps.map((step) => ('copy' in step ? { ...step, data: blobs[next++]! } : step));
  return { kind: 'transaction', steps };
}
