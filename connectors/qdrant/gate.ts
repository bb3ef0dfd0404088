/** Lets so many calls run at once; the others wait in their order. */
export function createGate(width: number): <T>(call: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (call) => {
    if (running === width) await new Promise<void>((go) => waiting.push(go));
    else running += 1;
    try {
      return await call();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
