import { MillraceError } from '../../src/errors/millrace-error.js';
import { fromWire } from '../../src/errors/wire.js';
import type { AnswerMessage, RequestMessage, StoreRequest, StoreResult } from './store-request.js';

/** A way to the owner of a folder: the worker of this process, or the socket of another one. */
export interface StoreSession {
  /** Set once the way is closed or broken: requests are refused with `store_unavailable`. */
  readonly lost: boolean;
  send(request: StoreRequest): Promise<StoreResult>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(result: StoreResult): void;
  reject(error: MillraceError): void;
}

/** Requests under way, by number. */
export interface PendingRequests {
  send(request: StoreRequest): Promise<StoreResult>;
  answer(message: AnswerMessage): void;
  /** Fails what is under way and all that comes later. */
  lose(reason: string, cause?: unknown): void;
  readonly lost: boolean;
  /** Resolves when nothing is under way; asked once, at the end. */
  idle(): Promise<void>;
}

export function pendingRequests(post: (message: RequestMessage) => void): PendingRequests {
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  let failure: MillraceError | undefined;
  let onIdle: (() => void) | undefined;
  return {
    get lost() {
      return failure !== undefined;
    },
    send: (request) => {
      if (failure !== undefined) return Promise.reject(failure);
      const id = nextId++;
      const promise = new Promise<StoreResult>((resolve, reject) => waiting.set(id, { resolve, reject }));
      post({ id, request });
      return promise;
    },
    answer: ({ id, result, error }) => {
      const answered = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) answered?.resolve(result ?? []);
      else answered?.reject(fromWire(error));
      if (waiting.size === 0) onIdle?.();
    },
    lose: (reason, cause) => {
      failure ??= new MillraceError('store_unavailable', reason, { cause });
      for (const answered of waiting.values()) answered.reject(failure);
      waiting.clear();
      onIdle?.();
    },
    idle: () =>
      new Promise((resolve) => {
        if (waiting.size === 0) resolve();
        else onIdle = resolve;
      }),
  };
}
