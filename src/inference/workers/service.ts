import type { Transferable } from 'node:worker_threads';
import type { Resources } from './resources.js';

/** What a service module exports: code that lives in worker threads and is asked by name. */
export interface ServiceModule {
  /**
   * Called once a worker, at the first call there, with the options that `WorkerPool.service` was given (a structured
   * clone). A throw fails that call and leaves nothing behind; the next call tries again.
   */
  create(options: never, resources: Resources): Service | Promise<Service>;
}

export interface Service {
  /** Run one at a time a worker. What they throw reaches the caller as a MillraceError with code, hint and causes. */
  readonly methods: Readonly<Record<string, ServiceMethod>>;
  /** Frees what the service holds beside its shared resources. */
  close?(): void | Promise<void>;
}

export type ServiceMethod = (payload: never) => Reply | Promise<Reply>;

export interface Reply {
  /** Anything that can be structurally cloned. */
  readonly value: unknown;
  /** Buffers of `value` that move to the caller instead of being copied. */
  readonly transfer?: readonly Transferable[];
}
