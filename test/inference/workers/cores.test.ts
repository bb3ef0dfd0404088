import { availableParallelism } from 'node:os';
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

it('starts one worker a core, within reason', () => {
  expect(defaultWorkerCount(1)).toBe(1);
  expect(defaultWorkerCount(6)).toBe(6);
  expect(defaultWorkerCount(128)).toBe(16);
});
