import type { Clock } from '../../../src/contracts/context.js';

/** Time goes on while somebody waits. */
export function passingTime(): Clock {
  let now = 1_000_000;
  return {
    now: () => now,
    sleep: async (ms: number) => {
      now += ms;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
