import type { Clock } from '../contracts/context.js';

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  // Node's own promise of a timer makes an error with its stack whenever it is aborted, which most time limits are.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const stop = () => {
        clearTimeout(timer);
        reject(signal!.reason as Error);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, ms);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};
