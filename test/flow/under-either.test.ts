import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { underEither } from '../../src/flow/under-either.js';

const untilAbort = (signal: AbortSignal) =>
  new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );

test.each([0, 1])(
  'work ends with the reason of whichever of two signals aborts, here of number %i',
  async (which) => {
    const [one, two] = [new AbortController(), new AbortController()];
    const work = underEither(one.signal, two.signal, untilAbort);
    [one, two][which]!.abort(new Error(`signal ${which}`));
    await expect(work).rejects.toThrow(`signal ${which}`);
  },
);

test('a signal that has aborted before is seen at once, and no listener stays', async () => {
  const [one, two] = [new AbortController(), new AbortController()];
  expect(await underEither(one.signal, two.signal, async ({ aborted }) => aborted)).toBe(false);
  for (const { signal } of [one, two]) expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  two.abort(new Error('before'));
  expect(await underEither(one.signal, two.signal, async ({ aborted }) => aborted)).toBe(true);
});
