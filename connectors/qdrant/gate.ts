/** Lets so many calls run at once; the others wait in their order, until their signal aborts. */
export function createGate(width: number): <T>(call: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;

  async function turn(signal?: AbortSignal): Promise<void> {
    if (running < width) {
      running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal!.reason as Error);
      };
      signal?.addEventListener('abort', leave, { once: true });
      waiting.push(go);
    });
  }

  return async (call, signal) => {
    signal?.throwIfAborted();
    await turn(signal);
    try {
      return await call();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
