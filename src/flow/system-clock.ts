import type { Clock } from '../contracts/context.js';

/** Some 24 days: a timer of Node's that is set for longer ends at once. */
const longestMs = 2 ** 31 - 1;

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => (ms > longestMs ? inParts(ms, signal) : wait(ms, signal)),
};

async function inParts(ms: number, signal: AbortSignal | undefined): Promise<void> {
  for (let left = ms; left > 0; left -= longestMs) await wait(Math.min(left, longestMs), signal);
}

// Node's own promise of a timer makes an error with its stack whenever it is aborted, which most time limits are.
function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
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
  });
}
