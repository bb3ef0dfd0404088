import { expect, test } from 'vitest';
import type { ModelUpdate } from '../../src/contracts/model-updates.js';
import type { ModelTarget } from '../../src/runtime/model-target.js';
import { createModelUpdater } from '../../src/runtime/model-updates.js';
import { VirtualClock } from '../support/virtual-clock.js';

/** A model of the chain whose refreshes end when they are let go. */
function slowTarget(model: string) {
  const asked: ModelUpdate[] = [];
  const ends: (() => void)[] = [];
  const target: ModelTarget = {
    model,
    revision: undefined,
    ref: { kind: 'folder', path: '/nonexistent' },
    commit: () => Promise.reject(new Error('a folder has none')),
    refresh: async (update) => {
      asked.push(update);
      await new Promise<void>((resolve) => ends.push(resolve));
      return { result: 'unchanged', from: 'a', to: 'a' };
    },
  };
  return { target, asked, ends };
}

test('equal news that wait are taken once, after whatever came before the last of them', async () => {
  const { target, asked, ends } = slowTarget('./topics');
  const notices: string[] = [];
  const updater = createModelUpdater({
    refresh: {
      watch: [],
      everyMs: 1_000,
      events: undefined,
      allow: [{ model: './topics-2', replaces: './topics' }],
    },
    targets: [target],
    context: {
      clock: new VirtualClock(),
      report: (event) => event.type === 'notice' && notices.push(event.code),
    },
    signal: new AbortController().signal,
  });
  async function* flood(): AsyncGenerator<ModelUpdate> {
    yield { model: './topics' };
    // The first is under way from here on: what it found may be older than the news after it.
    await expect.poll(() => asked.length).toBe(1);
    for (let n = 0; n < 1_000; n += 1) yield { model: './topics-2' };
    yield { model: './forbidden' };
    for (let n = 0; n < 1_000; n += 1) yield { model: './topics' };
    yield { model: './topics-2' };
  }
  let over = false;
  const listening = updater.listen(flood()).finally(() => (over = true));
  while (!over) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await listening;
  expect(asked.map(({ model }) => model)).toEqual(['./topics', './topics', './topics-2']);
  expect(notices).toEqual(['model_update_refused']);
});
