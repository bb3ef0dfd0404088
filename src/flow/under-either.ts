/**
 * Runs work under a signal that aborts as soon as one of two does, with its reason. Both are left without a listener when
 * the work ends: `AbortSignal.any` keeps something on long-lived signals.
 */
export async function underEither<T>(
  first: AbortSignal,
  second: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = new AbortController();
  const signals = [first, second];
  const abort = () => either.abort(signals.find(({ aborted }) => aborted)!.reason);
  if (signals.some(({ aborted }) => aborted)) abort();
  for (const signal of signals) signal.addEventListener('abort', abort, { once: true });
  try {
    return await work(either.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', abort);
  }
}
