import type { WireError } from '../../errors/wire.js';

/** What the main thread asks of a worker, in the order in which it is done. */
export type Request =
  /** Makes a service known; nothing is loaded before its first call. Has no answer. */
  | { readonly kind: 'define'; readonly service: number; readonly module: string; readonly options: unknown }
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly service: number;
      readonly method: string;
      readonly payload: unknown;
    }
  | { readonly kind: 'release'; readonly id: number; readonly service: number }
  /** Closes every service and ends the thread. Has no answer but its end. */
  | { readonly kind: 'close' };

/** A worker's answer to the request with this id; `ms` is the time it took there, waiting excluded. */
export type Response =
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown; readonly ms: number }
  | { readonly kind: 'error'; readonly id: number; readonly error: WireError; readonly ms: number };
