import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Notice } from '../../src/contracts/context.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Loadable } from '../../src/inference/loadable.js';
import { createModelManager } from '../../src/inference/manager.js';
import { VirtualClock } from '../support/virtual-clock.js';

/** Something that is loaded and closed, and counts both; loading takes until `ready`. */
class Thing {
  loads = 0;
  closes = 0;
  open = 0;
  readonly loadable: Loadable<{ name: string; close(): Promise<void> }>;

  constructor(name: string, bytes = 10, ready: () => Promise<unknown> = async () => undefined) {
    this.loadable = {
      key: name,
      name,
      bytes,
      load: async (signal) => {
        this.loads += 1;
        await ready();
        signal.throwIfAborted();
        this.open += 1;
        return {
          name,
          close: async () => {
            await sleep(1);
            this.closes += 1;
            this.open -= 1;
          },
        };
      },
    };
  }
}

/** The same thing, closed in another way. */
const closedBy = ({ loadable }: Thing, close: () => Promise<void>): Thing['loadable'] => ({
  ...loadable,
  load: async (signal) => ({ ...(await loadable.load(signal)), close }),
});

const names = (manager: ReturnType<typeof createModelManager>) => manager.loaded.map(({ name }) => name);

describe('the model manager', () => {
  test('two users of one model share it, also when they ask while it is being loaded', async () => {
    const manager = createModelManager();
    const thing = new Thing('a', 10, () => sleep(5));
    const [one, two] = await Promise.all([manager.acquire(thing.loadable), manager.acquire(thing.loadable)]);
    expect(one.model).toBe(two.model);
    expect(thing.loads).toBe(1);
    expect(manager.loaded).toEqual([{ name: 'a', bytes: 10, uses: 2, pinned: false }]);
    one.release();
    one.release();
    expect(manager.loaded[0]!.uses).toBe(1);
    two.release();
    const again = await manager.acquire(thing.loadable);
    expect([thing.loads, again.model]).toEqual([1, one.model]);
    await manager.close();
    expect(thing.open).toBe(0);
  });

  test('makes room by closing the least recently used model that nobody uses', async () => {
    const manager = createModelManager({ maxModels: 3 });
    const [a, b, c, d, e] = ['a', 'b', 'c', 'd', 'e'].map((name) => new Thing(name));
    const used = await manager.acquire(a!.loadable);
    (await manager.acquire(b!.loadable)).release();
    (await manager.acquire(c!.loadable)).release();
    (await manager.acquire(b!.loadable)).release();
    (await manager.acquire(d!.loadable)).release();
    expect(names(manager).sort()).toEqual(['a', 'b', 'd']);
    expect(c!.open).toBe(0);
    (await manager.acquire(e!.loadable)).release();
    expect(names(manager).sort()).toEqual(['a', 'd', 'e']);
    expect([used.model.name, a!.closes]).toEqual(['a', 0]);
    await manager.close();
  });

  test('counts bytes, and closes as many as it takes', async () => {
    const manager = createModelManager({ maxBytes: 100 });
    for (const name of ['a', 'b', 'c']) (await manager.acquire(new Thing(name, 30).loadable)).release();
    await manager.acquire(new Thing('large', 70).loadable);
    expect(names(manager)).toEqual(['c', 'large']);
    await manager.close();
  });

  test('never closes one in use or pinned: refuses at once, and closes nothing in vain', async () => {
    const manager = createModelManager({ maxBytes: 100 });
    const used = await manager.acquire(new Thing('used', 40).loadable);
    (await manager.acquire(new Thing('pinned', 30).loadable, { pin: true })).release();
    (await manager.acquire(new Thing('idle', 20).loadable)).release();
    expect(manager.hasRoomFor(new Thing('large', 31).loadable)).toBe(false);
    await expect(manager.acquire(new Thing('large', 31).loadable)).rejects.toMatchObject({
      code: 'resources_insufficient',
      message: expect.stringMatching(/large.*used.*1 uses.*pinned/) as string,
      hint: expect.stringContaining('models.maxBytes') as string,
    });
    expect(names(manager).sort()).toEqual(['idle', 'pinned', 'used']);
    expect(manager.hasRoomFor(new Thing('small', 30).loadable)).toBe(true);
    await manager.acquire(new Thing('small', 30).loadable);
    expect(names(manager).sort()).toEqual(['pinned', 'small', 'used']);
    used.release();
    await manager.close();
  });

  test('waits for room when asked to, but not for room that can never come', async () => {
    const manager = createModelManager({ maxBytes: 100 });
    const first = await manager.acquire(new Thing('first', 80).loadable);
    let got = false;
    const waiting = manager.acquire(new Thing('second', 60).loadable, { wait: true }).then((lease) => {
      got = true;
      return lease;
    });
    await sleep(5);
    expect(got).toBe(false);
    first.release();
    expect((await waiting).model.name).toBe('second');
    await expect(manager.acquire(new Thing('huge', 101).loadable, { wait: true })).rejects.toMatchObject({
      code: 'resources_insufficient',
    });
    const reason = new Error('enough');
    const controller = new AbortController();
    const given = manager.acquire(new Thing('third', 60).loadable, { wait: true, signal: controller.signal });
    controller.abort(reason);
    await expect(given).rejects.toBe(reason);
    await manager.close();
  });

  test('a failed load leaves nothing: all who wait hear of it, and the next asks anew', async () => {
    const manager = createModelManager({ maxModels: 1 });
    let broken = true;
    const thing = new Thing('a', 10, async () => {
      await sleep(2);
      if (broken) throw new MillraceError('model_corrupt', 'half of it');
    });
    const both = [manager.acquire(thing.loadable), manager.acquire(thing.loadable)];
    for (const one of both) await expect(one).rejects.toMatchObject({ code: 'model_corrupt' });
    expect(manager.loaded).toEqual([]);
    broken = false;
    expect((await manager.acquire(thing.loadable)).model.name).toBe('a');
    await manager.close();
  });

  test('a load goes on while one of those who asked still waits, and is given up with the last', async () => {
    const manager = createModelManager();
    let finish: () => void = () => undefined;
    const thing = new Thing('a', 10, () => new Promise<void>((resolve) => (finish = resolve)));
    const controllers = [new AbortController(), new AbortController()];
    const asked = controllers.map(({ signal }) => manager.acquire(thing.loadable, { signal }));
    controllers[0]!.abort(new Error('one left'));
    await expect(asked[0]).rejects.toThrow('one left');
    finish();
    expect((await asked[1]!).model.name).toBe('a');

    const other = new Thing('b', 10, () => new Promise<void>((resolve) => (finish = resolve)));
    const alone = new AbortController();
    const left = manager.acquire(other.loadable, { signal: alone.signal });
    alone.abort(new Error('nobody waits'));
    await expect(left).rejects.toThrow('nobody waits');
    finish();
    await expect.poll(() => names(manager)).toEqual(['a']);
    expect(other.open).toBe(0);
    await manager.close();
  });

  test('whoever asks while a load that was given up still ends has a load of its own', async () => {
    const manager = createModelManager();
    let finish = () => {};
    const ends = [new Promise<void>((resolve) => (finish = resolve)), undefined];
    const thing = new Thing('a', 10, async () => ends.shift());
    const impatient = new AbortController();
    const left = manager.acquire(thing.loadable, { signal: impatient.signal });
    await sleep(1);
    impatient.abort(new Error('nobody waits'));
    await expect(left).rejects.toThrow('nobody waits');
    const next = manager.acquire(thing.loadable);
    const alsoLeft = new AbortController();
    const third = manager.acquire(thing.loadable, { signal: alsoLeft.signal });
    alsoLeft.abort(new Error('left too'));
    await expect(third).rejects.toThrow('left too');
    finish();
    expect((await next).model.name).toBe('a');
    expect([thing.loads, thing.open]).toEqual([2, 1]);
    await manager.close();
  });

  test('a load that pays no heed to being given up is not made twice', async () => {
    const manager = createModelManager();
    let finish = () => {};
    const ready = new Promise<void>((resolve) => (finish = resolve));
    const thing = new Thing('a');
    const deaf = {
      ...thing.loadable,
      load: async () => (await ready, thing.loadable.load(new AbortController().signal)),
    };
    const impatient = new AbortController();
    const left = manager.acquire(deaf, { signal: impatient.signal });
    impatient.abort(new Error('nobody waits'));
    await expect(left).rejects.toThrow('nobody waits');
    const next = manager.acquire(deaf);
    finish();
    expect((await next).model.name).toBe('a');
    expect(thing.loads).toBe(1);
    await manager.close();
  });

  test('a retired model is closed when its last use ends, unless somebody wants it again before', async () => {
    const manager = createModelManager();
    const thing = new Thing('a');
    const [one, two] = [await manager.acquire(thing.loadable), await manager.acquire(thing.loadable)];
    await one.retire();
    await sleep(5);
    expect([thing.closes, manager.uses(thing.loadable)]).toEqual([0, 1]);
    two.release();
    await sleep(5);
    expect([thing.closes, manager.loaded.length]).toEqual([1, 0]);

    const alone = await manager.acquire(thing.loadable);
    await alone.retire();
    expect([thing.closes, manager.loaded.length]).toEqual([2, 0]);

    const [three, four] = [await manager.acquire(thing.loadable), await manager.acquire(thing.loadable)];
    await three.retire();
    const five = await manager.acquire(thing.loadable);
    four.release();
    five.release();
    await sleep(5);
    expect([thing.loads, thing.open]).toEqual([3, 1]);
    await manager.close();
  });

  test('whoever waits for a load while the manager closes gets no model that is closed already', async () => {
    const manager = createModelManager();
    let finish = (): void => undefined;
    const heedless: Thing['loadable'] = {
      ...new Thing('a').loadable,
      load: async () => {
        await new Promise<void>((resolve) => (finish = resolve));
        return { name: 'a', close: async () => undefined };
      },
    };
    const asked = manager.acquire(heedless);
    const refused = expect(asked).rejects.toMatchObject({ code: 'aborted' });
    await sleep(1);
    const closed = manager.close();
    finish();
    await Promise.all([refused, closed]);
  });

  test('a model that cannot be closed spoils neither the next load of it nor that of another, and is told of', async () => {
    const notices: Notice[] = [];
    const manager = createModelManager({ maxModels: 1, onNotice: (notice) => notices.push(notice) });
    const [a, b] = [new Thing('a'), new Thing('b')];
    const stubborn = closedBy(a, async () => {
      await sleep(1);
      throw new Error('it does not close');
    });
    const retired = (await manager.acquire(stubborn)).retire();
    (await manager.acquire(stubborn)).release();
    await retired;
    expect((await manager.acquire(b.loadable)).model.name).toBe('b');
    expect([a.loads, names(manager)]).toEqual([2, ['b']]);
    const told = {
      level: 'warn',
      code: 'model_not_closed',
      message: expect.stringContaining('it does not close'),
    };
    expect(notices).toEqual([told, told]);
  });

  test('a model whose closing never ends holds up its successor, and the end, for a minute each at most', async () => {
    const notices: Notice[] = [];
    const clock = new VirtualClock();
    const manager = createModelManager({ maxModels: 1, clock, onNotice: (notice) => notices.push(notice) });
    const [a, b] = [new Thing('a'), new Thing('b')];
    const never = () => new Promise<void>(() => undefined);
    const retired = (await manager.acquire(closedBy(a, never))).retire();
    const next = manager.acquire(closedBy(b, never));
    await clock.asleep();
    clock.advance(60_000);
    await retired;
    expect((await next).model.name).toBe('b');
    expect(names(manager)).toEqual(['b']);
    const closed = manager.close();
    await clock.asleep();
    clock.advance(60_000);
    await closed;
    expect(notices.map(({ code, message }) => [code, message.split(',')[0]])).toEqual([
      ['model_not_closed', 'Model a'],
      ['model_not_closed', 'Model b'],
    ]);
    expect(clock.sleeping).toBe(0);
  });

  test('asked for again while it is being closed, it is loaded anew', async () => {
    const manager = createModelManager({ maxModels: 1 });
    const thing = new Thing('a');
    const retired = (await manager.acquire(thing.loadable)).retire();
    const again = await manager.acquire(thing.loadable);
    await retired;
    expect([thing.loads, thing.closes, again.model.name]).toEqual([2, 1, 'a']);
    await manager.close();
    await expect(manager.acquire(thing.loadable)).rejects.toMatchObject({ code: 'aborted' });
  });
});
