/**
 * Whether a function that others wrote gave a promise where a value is asked for. Nobody waits for it: without this its
 * rejection would end the process.
 */
export function isStrayPromise(value: unknown): boolean {
  const { then } = (value ?? {}) as Partial<PromiseLike<unknown>>;
  if (typeof then !== 'function') return false;
  then.call(value, undefined, () => undefined);
  return true;
}
