import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { createWorkerPool, type WorkerPool } from '../../../src/inference/workers/pool.js';
import type { FixtureOptions } from './fixture-service.js';

const module = new URL('./fixture-service.js', import.meta.url);
let pool: WorkerPool;
afterEach(() => pool.close());

interface Where {
  readonly threadId: number;
  readonly label: string;
  readonly made: number;
  readonly calls: number;
}
interface Slept {
  readonly tag: number;
  readonly threadId: number;
  readonly at: number;
}

function fixture(size: number, options: FixtureOptions = { label: 'one' }) {
  pool = createWorkerPool({ size });
  return pool.service(module, options);
}

describe('a worker pool', () => {
  it('runs as many calls at once as it has workers, and no more', async () => {
    const service = fixture(2);
    const slept = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((tag) => service.call<Slept>('sleep', { ms: 40, tag })),
    );
    expect(slept.map(({ tag }) => tag)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(new Set(slept.map(({ threadId }) => threadId)).size).toBe(2);
    const times = slept.map(({ at }) => at).sort((a, b) => a - b);
    expect(times[2]! - times[0]!).toBeGreaterThan(30);
    expect(times[4]! - times[2]!).toBeGreaterThan(30);
  });

  it('starts calls in the order in which they were made', async () => {
    const service = fixture(1);
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 30 }, async (_, tag) => {
        await service.call('sleep', { ms: tag % 3, tag });
        order.push(tag);
      }),
    );
    expect(order).toEqual(Array.from({ length: 30 }, (_, tag) => tag));
  });

  it('makes a call that came while its only worker was releasing another service', async () => {
    const service = fixture(1);
    const other = pool.service(module, { label: 'other' } satisfies FixtureOptions);
    await other.call('where', undefined);
    await service.call('where', undefined);
    const released = other.release();
    await new Promise(setImmediate);
    const called = service.call<Where>('where', undefined);
    await released;
    expect(await called).toMatchObject({ label: 'one', calls: 2 });
  });

  it('moves buffers to the worker and back without copying them', async () => {
    const service = fixture(1);
    const numbers = Float32Array.of(1, 2, 3);
    const doubled = await service.call<Float32Array>('double', numbers, { transfer: [numbers.buffer] });
    expect([...doubled]).toEqual([2, 4, 6]);
    expect(numbers.length).toBe(0);
  });

  it('makes a service once a worker, and lets services of one worker share resources', async () => {
    const one = fixture(1);
    const two = pool.service(module, { label: 'two' } satisfies FixtureOptions);
    const answers = [
      await one.call<Where>('where', null),
      await two.call<Where>('where', null),
      await one.call<Where>('where', null),
    ];
    expect(answers.map(({ label, calls }) => [label, calls])).toEqual([
      ['one', 1],
      ['two', 1],
      ['one', 2],
    ]);
    expect(new Set(answers.map(({ made }) => made)).size).toBe(1);
    await one.release();
    await two.release();
    const three = pool.service(module, { label: 'three' } satisfies FixtureOptions);
    expect((await three.call<Where>('where', null)).made).not.toBe(answers[0]!.made);
  });

  it('hands on the error of a service with its code, hint and causes', async () => {
    const service = fixture(1);
    await expect(service.call('refuse', null)).rejects.toMatchObject({
      name: 'MillraceError',
      code: 'inference_failed',
      message: 'refused',
      hint: 'ask again',
      cause: expect.objectContaining({ message: 'inner' }) as unknown,
    });
    await expect(service.call('no such method', null)).rejects.toMatchObject({ code: 'internal' });
    await expect(service.call('uncloneable', null)).rejects.toMatchObject({ code: 'internal' });
    await expect(service.call('where', () => undefined)).rejects.toMatchObject({ code: 'internal' });
    expect((await service.call<Where>('where', null)).calls).toBe(1);
  });

  it('reports a service that cannot be made, and keeps its workers', async () => {
    const broken = fixture(1, { label: 'broken', failCreate: true });
    const whole = pool.service(module, { label: 'whole' } satisfies FixtureOptions);
    await expect(broken.call('where', null)).rejects.toMatchObject({
      code: 'model_not_found',
      hint: 'get one',
    });
    await expect(broken.call('where', null)).rejects.toMatchObject({ code: 'model_not_found' });
    expect((await whole.call<Where>('where', null)).label).toBe('whole');
    const absent = pool.service(new URL('./absent.js', import.meta.url), {});
    await expect(absent.call('where', null)).rejects.toMatchObject({ code: 'internal' });
  });

  it('replaces a worker that ends in the middle of a call, ten times over', async () => {
    const service = fixture(2);
    const seen = new Set<number>();
    for (let round = 0; round < 10; round++) {
      const crash = service.call('exit', null);
      const neighbours = [0, 1, 2, 3].map((tag) => service.call<Slept>('sleep', { ms: 5, tag }));
      await expect(crash).rejects.toMatchObject({ code: 'worker_crashed' });
      const slept = await Promise.all(neighbours);
      expect(slept.map(({ tag }) => tag)).toEqual([0, 1, 2, 3]);
      for (const { threadId } of slept) seen.add(threadId);
    }
    expect(seen.size).toBeGreaterThan(2);
  });

  it('sends a call that waited behind the one that ended its worker to another worker', async () => {
    const service = fixture(1);
    // A short call first: only behind short calls does the pool send ahead.
    await service.call('sleep', { ms: 0, tag: 0 });
    const crash = service.call('exit', null);
    const behind = service.call<Slept>('sleep', { ms: 0, tag: 7 });
    await expect(crash).rejects.toMatchObject({ code: 'worker_crashed' });
    expect((await behind).tag).toBe(7);
  });

  it('survives an uncaught error in a worker and names it as the cause', async () => {
    const service = fixture(1);
    await expect(service.call('uncaught', null)).rejects.toMatchObject({
      code: 'worker_crashed',
      cause: expect.objectContaining({ message: 'thrown outside of any call' }) as unknown,
    });
    expect((await service.call<Where>('where', null)).label).toBe('one');
  });

  it('survives a worker that runs out of memory, and lets an idle process end without being closed', async () => {
    const program = `
      const { createWorkerPool } = await import(${JSON.stringify(new URL('../../../src/inference/workers/pool.js', import.meta.url))});
      const service = createWorkerPool({ size: 1 }).service(new URL(${JSON.stringify(module)}), { label: 'after' });
      const error = await service.call('exhaust', null).catch((error) => error);
      const { label } = await service.call('where', null);
      console.log(JSON.stringify([error.code, label]));`;
    const flags = ['--max-old-space-size=100', '--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { timeout: 30_000 });
    expect(JSON.parse(stdout)).toEqual(['worker_crashed', 'after']);
  });

  it('drops a call that is aborted before it is sent, with the reason of the signal', async () => {
    const service = fixture(1);
    const running = service.call<Slept>('sleep', { ms: 50, tag: 1 });
    const controller = new AbortController();
    const queued = service.call('sleep', { ms: 0, tag: 2 }, { signal: controller.signal });
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(queued).rejects.toBe(reason);
    await expect(service.call('where', null, { signal: controller.signal })).rejects.toBe(reason);
    expect((await running).tag).toBe(1);
  });

  it('waits for calls under way when it closes, and rejects those that were not sent', async () => {
    const service = fixture(1);
    const running = service.call<Slept>('sleep', { ms: 60, tag: 1 });
    const queued = service.call('sleep', { ms: 0, tag: 2 });
    const refused = expect(queued).rejects.toMatchObject({ code: 'aborted' });
    await pool.close();
    expect((await running).tag).toBe(1);
    await refused;
    await expect(service.call('where', null)).rejects.toMatchObject({ code: 'aborted' });
  });

  it('frees a service after the calls that were made', async () => {
    const service = fixture(1);
    const calls = [
      service.call<Slept>('sleep', { ms: 10, tag: 1 }),
      service.call<Slept>('sleep', { ms: 1, tag: 2 }),
    ];
    await service.release();
    expect((await Promise.all(calls)).map(({ tag }) => tag)).toEqual([1, 2]);
    await expect(service.call('where', null)).rejects.toMatchObject({ code: 'internal' });
  });
});
