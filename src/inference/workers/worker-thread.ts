import { Worker, type Transferable } from 'node:worker_threads';
import { MillraceError } from '../../errors/millrace-error.js';
import { fromWire } from '../../errors/wire.js';
import type { Request, Response } from './protocol.js';

/** One worker thread, seen from the main thread. It keeps the process alive only while it owes an answer. */
export interface WorkerThread {
  /** Requests sent and not yet answered. */
  readonly owed: number;
  /** How long the last answered request took there, in ms; infinite before the first. */
  readonly lastMs: number;
  /** Makes a service known to the thread, once. */
  define(service: number, module: string, options: unknown): void;
  knows(service: number): boolean;
  /**
   * Requests are done in the order in which they are sent.
   * @throws MillraceError what the service threw; `worker_crashed` when the thread ended before it answered; `internal`
   * when the payload cannot be cloned
   */
  call(
    service: number,
    method: string,
    payload: unknown,
    transfer: readonly Transferable[],
  ): Promise<CallEnd>;
  release(service: number): Promise<void>;
  /** Closes the services after what is under way; ends the thread by force when that takes over `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** `done` is false when the thread ended before it came to this call: it may be sent again, to another thread. */
export type CallEnd = { readonly done: true; readonly value: unknown } | { readonly done: false };

interface Owed {
  readonly resolve: (end: CallEnd) => void;
  readonly reject: (error: MillraceError) => void;
}

/** @param onEnd called once, when the thread has ended for whatever reason, after its calls were rejected */
export function startWorkerThread(name: string, onEnd: () => void): WorkerThread {
  // Flags that only the main program can have (--input-type, loaders) would keep the thread from starting.
  const worker = new Worker(new URL('./worker-main.js', import.meta.url), {
    name,
    execArgv: [],
    // What a call makes dies with it: room for more only lets a thread keep 50 MB that it has no use for.
    resourceLimits: { maxYoungGenerationSizeMb: 6 },
  });
  worker.unref();
  const owed = new Map<number, Owed>();
  const known = new Set<number>();
  let nextId = 0;
  let ended = false;
  let fault: unknown;
  let lastMs = Infinity;

  function settle(id: number): Owed | undefined {
    const entry = owed.get(id);
    owed.delete(id);
    if (owed.size === 0) worker.unref();
    return entry;
  }

  worker.on('message', (response: Response) => {
    lastMs = response.ms;
    const entry = settle(response.id);
    if (response.kind === 'value') entry?.resolve({ done: true, value: response.value });
    else entry?.reject(fromWire(response.error));
  });
  worker.on('error', (error) => {
    fault = error;
  });
  worker.on('messageerror', (error) => {
    fault = error;
    void worker.terminate();
  });
  const end = new Promise<void>((resolve) => {
    worker.once('exit', (code) => {
      ended = true;
      const [running, ...unstarted] = owed.values();
      running?.reject(crashed(name, code, fault));
      for (const { resolve } of unstarted) resolve({ done: false });
      owed.clear();
      onEnd();
      resolve();
    });
  });

  function ask(make: (id: number) => Request, transfer: readonly Transferable[]): Promise<CallEnd> {
    return new Promise((resolve, reject) => {
      const id = nextId++;
      owed.set(id, { resolve, reject });
      worker.ref();
      try {
        worker.postMessage(make(id), transfer);
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
      worker.postMessage({ kind: 'define', service, module, options } satisfies Request);
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
      worker.ref();
      worker.postMessage({ kind: 'close' } satisfies Request);
      const timer = setTimeout(() => void worker.terminate(), graceMs);
      await end;
      clearTimeout(timer);
    },
  };
}

function crashed(name: string, code: number, cause: unknown): MillraceError {
  return new MillraceError(
    'worker_crashed',
    `Worker thread ${name} ended (exit code ${code}) before it answered.`,
    {
      cause,
      hint: 'A new thread takes its place. If it keeps ending, look for memory limits or a faulty model file.',
    },
  );
}
