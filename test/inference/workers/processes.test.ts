import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createWorkerPool, type WorkerPool } from '../../../src/inference/workers/pool.js';
import type { FixtureOptions } from './fixture-service.js';

const module = new URL('./fixture-service.js', import.meta.url);
let pool: WorkerPool;
afterEach(() => pool.close());

function fixture(size: number, options: FixtureOptions = { label: 'one' }) {
  pool = createWorkerPool({ size, isolation: 'process' });
  return pool.service(module, options);
}

describe('workers in processes', () => {
  it('run services outside of this process, with the same answers and errors as threads', async () => {
    const service = fixture(1);
    expect(await service.call('pid', null)).not.toBe(process.pid);
    const numbers = Float32Array.of(1, 2, 3);
    const doubled = await service.call<Float32Array>('double', numbers, { transfer: [numbers.buffer] });
    expect(doubled).toEqual(Float32Array.of(2, 4, 6));
    await expect(service.call('refuse', null)).rejects.toMatchObject({
      code: 'inference_failed',
      hint: 'ask again',
      cause: expect.objectContaining({ message: 'inner' }) as unknown,
    });
    await expect(service.call('uncloneable', null)).rejects.toMatchObject({ code: 'internal' });
    await expect(service.call('where', () => undefined)).rejects.toMatchObject({ code: 'internal' });
    const broken = pool.service(module, { label: 'broken', failCreate: true } satisfies FixtureOptions);
    await expect(broken.call('where', null)).rejects.toMatchObject({ code: 'model_not_found' });
  });

  it('run as many calls at once as the pool is large', async () => {
    const service = fixture(2);
    const pids = await Promise.all([0, 1].map((tag) => service.call('sleep', { ms: 200, tag })));
    expect(pids).toHaveLength(2);
    const both = await Promise.all([service.call('pid', null), service.call('pid', null)]);
    expect(new Set(both).size).toBe(2);
  });

  it('are replaced when they are killed, and take only the call that they ran along', async () => {
    const service = fixture(1);
    for (let round = 0; round < 3; round += 1) {
      const pid = await service.call<number>('pid', null);
      const running = service.call('sleep', { ms: 10_000, tag: 0 });
      const behind = service.call<number>('pid', null);
      await sleep(20);
      process.kill(pid, 'SIGKILL');
      await expect(running).rejects.toMatchObject({
        code: 'worker_crashed',
        message: expect.stringContaining('SIGKILL') as string,
      });
      expect(await behind).not.toBe(pid);
    }
  });

  it('finish their work when a terminal or a supervisor signals every process', async () => {
    const service = fixture(1);
    const pid = await service.call<number>('pid', null);
    const running = service.call<{ tag: number }>('sleep', { ms: 100, tag: 4 });
    process.kill(pid, 'SIGINT');
    process.kill(pid, 'SIGTERM');
    expect((await running).tag).toBe(4);
  });

  it('end when the pool is closed', async () => {
    const service = fixture(1);
    const pid = await service.call<number>('pid', null);
    await pool.close();
    expect(alive(pid)).toBe(false);
  });

  it('end when the process that started them is killed', async () => {
    pool = createWorkerPool({ size: 1 });
    const program = `
      const { createWorkerPool } = await import(${JSON.stringify(new URL('../../../src/inference/workers/pool.js', import.meta.url))});
      const pool = createWorkerPool({ size: 1, isolation: 'process' });
      const service = pool.service(new URL(${JSON.stringify(module)}), { label: 'orphan' });
      console.log(await service.call('pid', null));
      await service.call('sleep', { ms: 60_000, tag: 0 });`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const ended = once(parent, 'exit');
    let pid: number | undefined;
    for await (const line of createInterface({ input: parent.stdout })) {
      pid = Number(line);
      expect(alive(pid)).toBe(true);
      parent.kill('SIGKILL');
    }
    expect(await ended).toEqual([null, 'SIGKILL']);
    await expect.poll(() => alive(pid!)).toBe(false);
  });
});

/** A process that ended and that nobody asked about yet is dead too. */
function alive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
