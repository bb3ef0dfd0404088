import type { Transferable } from 'node:worker_threads';
import { MillraceError } from '../../errors/millrace-error.js';
import { fromWire } from '../../errors/wire.js';
import type { Request, Response } from './protocol.js';

/** One worker, seen from the main thread. It keeps the process alive only while it owes an answer. */
export interface Worker {
  /** Requests sent and not yet answered. */
  readonly owed: number;
  /** How long the last answered request took there, in ms; infinite before the first. */
  readonly lastMs: number;
  /** Makes a service known to the worker, once. */
  define(service: number, module: string, options: unknown): void;
  knows(service: number): boolean;
  /**
   * Requests are done in the order in which they are sent.
   * @throws MillraceError what the service threw; `worker_crashed` when the worker ended before it answered; `internal`
   * when the payload cannot be cloned
   */
  call(
    service: number,
    method: string,
    payload: unknown,
    transfer: readonly Transferable[],
  ): Promise<CallEnd>;
  release(service: number): Promise<void>;
  /** Closes the services after what is under way; ends the worker by force when that takes over `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** `done` is false when the worker ended before it came to this call: it may be sent again, to another worker. */
export type CallEnd = { readonly done: true; readonly value: unknown } | { readonly done: false };

/** How requests reach a worker: a thread or a process that answers them in turn. */
export interface WorkerPort {
  /** What it is called in messages: `Worker thread millrace-1`. */
  readonly name: string;
  /** @throws when the request cannot be cloned */
  post(request: Request, transfer: readonly Transferable[]): void;
  /** Whether it keeps this process alive. */
  hold(alive: boolean): void;
  /** Ends it by force. */
  kill(): void;
}

/** What a port tells of its worker. `ended` comes once and last. */
export interface WorkerListener {
  answered(response: Response): void;
  /** @param how exit code or signal, for people */
  ended(how: string, fault: unknown): void;
}

export type OpenPort = (listener: WorkerListener) => WorkerPort;

interface Owed {
  readonly resolve: (end: CallEnd) => void;
  readonly reject: (error: MillraceError) => void;
}

/** @param onEnd called once, when the worker has ended for whatever reason, after its calls were rejected */
export function startWorker(open: OpenPort, onEnd: () => void): Worker {
  const owed = new Map<number, Owed>();
  const known = new Set<number>();
  let nextId = 0;
  let ended = false;
  let lastMs = Infinity;
  let finish: () => void = () => undefined;
  const end = new Promise<void>((resolve) => (finish = resolve));
  const port = open({
    answered(response) {
      lastMs = response.ms;
      const entry = settle(response.id);
      if (response.kind === 'value') entry?.resolve({ done: true, value: response.value });
      else entry?.reject(fromWire(response.error));
    },
    ended(how, fault) {
      ended = true;
      const [running, ...unstarted] = owed.values();
      running?.reject(crashed(port.name, how, fault));
      for (const { resolve } of unstarted) resolve({ done: false });
      owed.clear();
      onEnd();
      finish();
    },
  });

  function settle(id: number): Owed | undefined {
    const entry = owed.get(id);
    owed.delete(id);
    if (owed.size === 0) port.hold(false);
    return entry;
  }

  function ask(make: (id: number) => Request, transfer: readonly Transferable[]): Promise<CallEnd> {
    return new Promise((resolve, reject) => {
      const id = nextId++;
      owed.set(id, { resolve, reject });
      port.hold(true);
      try {
        port.post(make(id), transfer);
      } catch (cause) {
        settle(id)?.reject(
          new MillraceError('internal', 'The payload of a call cannot be cloned.', { cause }),
        );
      }
    });
  }

  return {
    get owed() {
      return owed.size;
    },
    get lastMs() {
      return lastMs;
    },
    define(service, module, options) {
      port.post({ kind: 'define', service, module, options }, []);
      known.add(service);
    },
    knows: (service) => known.has(service),
    call: (service, method, payload, transfer) =>
      ask((id) => ({ kind: 'call', id, service, method, payload }), transfer),
    async release(service) {
      if (!known.delete(service) || ended) return;
      await ask((id) => ({ kind: 'release', id, service }), []);
    },
    async close(graceMs) {
      if (ended) return;
      port.hold(true);
      port.post({ kind: 'close' }, []);
      const timer = setTimeout(() => port.kill(), graceMs);
      await end;
      clearTimeout(timer);
    },
  };
}

function crashed(name: string, how: string, cause: unknown): MillraceError {
  return new MillraceError('worker_crashed', `${name} ended (${how}) before it answered.`, {
    cause,
    hint: 'A new worker takes its place. If it keeps ending, look for memory limits or a faulty model file.',
  });
}
