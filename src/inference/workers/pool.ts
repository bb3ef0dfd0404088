import type { Transferable } from 'node:worker_threads';
import { MillraceError } from '../../errors/millrace-error.js';
import { openProcessPort } from './process-port.js';
import { quietRuntimes } from './quiet-runtimes.js';
import { openThreadPort } from './thread-port.js';
import { startWorker, type Worker } from './worker.js';

/**
 * A pool of workers, threads or processes, that host service modules. Workers start when there is work for them, and one
 * that ends is replaced at the next call. An idle pool does not keep the process alive.
 */
export interface WorkerPool {
  /** Workers at most, and so calls that run at once. */
  readonly size: number;
  /**
   * @param module a service module: an ES module that exports `create` (see `ServiceModule`)
   * @param options what `create` is given: a structured clone of it
   */
  service(module: URL, options: unknown): WorkerService;
  /** Refuses new calls, rejects those not yet sent with `aborted`, waits for those under way, ends the workers. */
  close(): Promise<void>;
}

/** A service, present on each worker of the pool from its first call there. */
export interface WorkerService {
  /**
   * Runs `method` on the first idle worker; calls start in the order in which they were made. One call runs at a time on
   * each worker. A call that has been sent is not cut off by its signal.
   * @throws MillraceError what the service threw; `worker_crashed` when the worker ended before it answered; `aborted`
   * when the pool closed first; the signal's reason when it aborted before the call was sent
   */
  call<Result>(method: string, payload: unknown, options?: CallOptions): Promise<Result>;
  /** Waits for the calls made so far, then frees the service on every worker. */
  release(): Promise<void>;
}

export interface CallOptions {
  /** Buffers of the payload that move to a thread instead of being copied; to a process they are copied. */
  readonly transfer?: readonly Transferable[];
  readonly signal?: AbortSignal | undefined;
}

export interface WorkerPoolOptions {
  /** From 1. */
  readonly size: number;
  /** @default 'thread' */
  readonly isolation?: Isolation;
}

/**
 * Where workers live. A native crash in a thread takes the whole daemon along; in a process it ends only the call that
 * it ran, at the price of some 50 MB a worker and of copying what a thread would be handed.
 */
export type Isolation = 'thread' | 'process';

interface Waiting {
  /** It may only be sent to an idle worker: it hands over buffers, or was sent in vain before. */
  alone: boolean;
  send(worker: Worker): Promise<void>;
  reject(error: unknown): void;
}

/** How long services may take to close before their thread is ended by force. */
const graceMs = 10_000;

/**
 * A worker whose last call was shorter than this is sent its next call before it has answered, so that it need not wait
 * for a busy main thread between two. After a longer call that would only keep the next one from another worker.
 */
const shortMs = 100;

export function createWorkerPool({ size, isolation = 'thread' }: WorkerPoolOptions): WorkerPool {
  if (!Number.isInteger(size) || size < 1)
    throw new MillraceError('config_invalid', `A worker pool has 1 worker or more, not ${size}.`);
  const open = isolation === 'thread' ? openThreadPort : openProcessPort;
  const workers = new Set<Worker>();
  const waiting: Waiting[] = [];
  /** Calls made and not settled, with the service that they are for. */
  const calls = new Map<Promise<unknown>, number>();
  let started = 0;
  let services = 0;
  let closed: Promise<void> | undefined;

  function workerFor({ alone }: Waiting): Worker | undefined {
    for (const worker of workers) if (worker.owed === 0) return worker;
    if (workers.size < size) {
      quietRuntimes();
      const name = `millrace-${++started}`;
      const worker = startWorker(
        (listener) => open(name, listener),
        () => workers.delete(worker),
      );
      workers.add(worker);
      return worker;
    }
    if (alone) return undefined;
    for (const worker of workers) if (worker.owed === 1 && worker.lastMs < shortMs) return worker;
    return undefined;
  }

  function dispatch() {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const worker = workerFor(next);
      if (worker === undefined) return;
      waiting.shift();
      void next.send(worker).finally(dispatch);
    }
  }

  function service(module: URL, options: unknown): WorkerService {
    const id = services++;
    let released: Promise<void> | undefined;

    function call<Result>(method: string, payload: unknown, { transfer = [], signal }: CallOptions = {}) {
      if (closed !== undefined) return Promise.reject<Result>(poolClosed());
      if (released !== undefined)
        return Promise.reject<Result>(new MillraceError('internal', 'The service was released.'));
      const result = new Promise<Result>((resolve, reject) => {
        const entry: Waiting = {
          alone: transfer.length > 0,
          async send(worker) {
            signal?.removeEventListener('abort', onAbort);
            try {
              if (!worker.knows(id)) worker.define(id, module.href, options);
              const end = await worker.call(id, method, payload, transfer);
              if (end.done) resolve(end.value as Result);
              else again();
            } catch (error) {
              reject(MillraceError.from(error));
            }
          },
          reject(error) {
            signal?.removeEventListener('abort', onAbort);
            reject(error as Error);
          },
        };
        function again() {
          entry.alone = true;
          enqueue('first');
        }
        function enqueue(place: 'first' | 'last') {
          if (signal?.aborted) return reject(signal.reason as Error);
          signal?.addEventListener('abort', onAbort, { once: true });
          if (place === 'first') waiting.unshift(entry);
          else waiting.push(entry);
        }
        function onAbort() {
          waiting.splice(waiting.indexOf(entry), 1);
          entry.reject(signal!.reason);
        }
        enqueue('last');
      });
      calls.set(result, id);
      result.catch(() => undefined).finally(() => calls.delete(result));
      dispatch();
      return result;
    }

    return {
      call,
      release() {
        released ??= (async () => {
          await Promise.allSettled([...calls].flatMap(([call, of]) => (of === id ? [call] : [])));
          await Promise.allSettled([...workers].map((worker) => worker.release(id)));
          // A call that came meanwhile found its worker busy.
          dispatch();
        })();
        return released;
      },
    };
  }

  return {
    size,
    service,
    close() {
      closed ??= (async () => {
        for (const entry of waiting.splice(0)) entry.reject(poolClosed());
        await Promise.allSettled(calls.keys());
        await Promise.all([...workers].map((worker) => worker.close(graceMs)));
      })();
      return closed;
    },
  };
}

function poolClosed(): MillraceError {
  return new MillraceError('aborted', 'The worker pool is closed.');
}
