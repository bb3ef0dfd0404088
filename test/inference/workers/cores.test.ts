import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { availableCores, defaultWorkerCount } from '../../../src/inference/workers/cores.js';

const files = (table: Record<string, string>) => (path: string) => table[path];

it('counts the CPUs of the container, not of the host', () => {
  expect(availableCores(files({}))).toBe(availableParallelism());
  expect(availableCores(files({ '/sys/fs/cgroup/cpu.max': 'max 100000\n' }))).toBe(availableParallelism());
  expect(availableCores(files({ '/sys/fs/cgroup/cpu.max': '150000 100000\n' }))).toBe(1);
  expect(availableCores(files({ '/sys/fs/cgroup/cpu.max': '20000 100000\n' }))).toBe(1);
  const v1 = (quota: string) =>
    files({
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': quota,
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    });
  expect(availableCores(v1('-1\n'))).toBe(availableParallelism());
  expect(availableCores(v1('100000\n'))).toBe(1);
});

it('counts the CPUs that this process is pinned to, of however many the machine has', async () => {
  const cores = JSON.stringify(new URL('../../../src/inference/workers/cores.js', import.meta.url));
  const script = `const { availableCores, defaultWorkerCount } = await import(${cores});
    console.log(availableCores(), defaultWorkerCount());`;
  const node = [process.execPath, '--input-type=module', '-e', script];
  const [cpu] = /\d+/.exec(/Cpus_allowed_list:.*/.exec(await readFile('/proc/self/status', 'utf8'))![0])!;
  const { stdout } = await promisify(execFile)('taskset', ['-c', cpu, ...node]);
  expect(stdout.trim()).toBe('1 1');
});

it('starts one worker a core, within reason', () => {
  expect(defaultWorkerCount(1)).toBe(1);
  expect(defaultWorkerCount(6)).toBe(6);
  expect(defaultWorkerCount(128)).toBe(16);
});
