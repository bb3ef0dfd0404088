import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Gate } from '../../src/flow/gate.js';

describe('gate', () => {
  test('work enters in its order while its costs fit, and a large one goes in alone', async () => {
    const gate = new Gate(10, new AbortController().signal);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const start = (name: string, cost: number) =>
      gate.run(cost, async () => {
        begun.push(name);
        await new Promise<void>((end) => ends.set(name, end));
      });
    const all = [start('a', 6), start('b', 4), start('large', 50), start('c', 1)];
    await turn();
    expect(begun).toEqual(['a', 'b']);
    ends.get('a')!();
    await turn();
    expect(begun).toEqual(['a', 'b']);
    ends.get('b')!();
    await turn();
    expect(begun).toEqual(['a', 'b', 'large']);
    ends.get('large')!();
    await turn();
    expect(begun).toEqual(['a', 'b', 'large', 'c']);
    ends.get('c')!();
    await Promise.all(all);
  });

  test('work that fails gives its room back', async () => {
    const gate = new Gate(1, new AbortController().signal);
    const failing = gate.run(1, async () => {
      throw new Error('no');
    });
    const next = gate.run(1, async () => 'in');
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('in');
  });

  test('an abort refuses what waits and leaves what is inside alone', async () => {
    const stop = new AbortController();
    const gate = new Gate(1, stop.signal);
    let finish = (_result: string) => {};
    const first = gate.run(1, () => new Promise<string>((resolve) => (finish = resolve)));
    await turn();
    const second = gate.run(1, async () => 'in');
    stop.abort(new Error('stopped'));
    await expect(second).rejects.toThrow('stopped');
    await expect(gate.run(1, async () => 'in')).rejects.toThrow('stopped');
    finish('done');
    expect(await first).toBe('done');
  });
});
