import { Worker } from 'node:worker_threads';
import type { Response } from './protocol.js';
import type { WorkerListener, WorkerPort } from './worker.js';

/** A worker thread. What crashes natively in it takes the whole process along. */
export function openThreadPort(name: string, listener: WorkerListener): WorkerPort {
  // Flags that only the main program can have (--input-type, loaders) would keep the thread from starting.
  const worker = new Worker(new URL('./thread-main.js', import.meta.url), {
    name,
    execArgv: [],
    // What a call makes dies with it, if the young generation holds all of it: what does not fit is kept for long. More
    // than that would only let a thread keep 50 MB that it has no use for.
    resourceLimits: { maxYoungGenerationSizeMb: 24 },
  });
  worker.unref();
  let fault: unknown;
  worker.on('message', (response: Response) => listener.answered(response));
  worker.on('error', (error) => {
    fault = error;
  });
  worker.on('messageerror', (error) => {
    fault = error;
    void worker.terminate();
  });
  worker.once('exit', (code) => listener.ended(`exit code ${code}`, fault));
  return {
    name: `Worker thread ${name}`,
    post: (request, transfer) => worker.postMessage(request, transfer),
    hold: (alive) => (alive ? worker.ref() : worker.unref()),
    kill: () => void worker.terminate(),
  };
}
