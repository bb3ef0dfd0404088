import type { Loadable } from '../loadable.js';
import { createWorkerPool, type WorkerPool } from './pool.js';

/**
 * Gives a model workers of its own, which start when it is loaded and end when it is closed: loading it holds up nobody
 * else's calls, and whatever a runtime keeps of a closed session goes with its threads.
 * @param prepare is given a pool to load with; nothing is started by it
 */
export async function withOwnWorkers<Model extends { close(): Promise<void> }>(
  size: number,
  prepare: (pool: WorkerPool) => Promise<Loadable<Model>>,
): Promise<Loadable<Model>> {
  let pool: WorkerPool | undefined;
  const end = async () => {
    const ending = pool;
    pool = undefined;
    await ending?.close();
  };
  const loadable = await prepare({
    size,
    service: (module, options) => (pool ??= createWorkerPool({ size })).service(module, options),
    close: end,
  });
  return {
    ...loadable,
    async load(signal) {
      try {
        const model = await loadable.load(signal);
        const close = async () => {
          try {
            await model.close();
          } finally {
            await end();
          }
        };
        return { ...model, close };
      } catch (error) {
        await end();
        throw error;
      }
    },
  };
}
