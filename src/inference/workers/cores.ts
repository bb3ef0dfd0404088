import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Reads a file of the kernel; undefined where there is none. */
export type ReadKernelFile = (path: string) => string | undefined;

/**
 * CPUs that this process may use, from 1: the least of its CPU set and its cgroup's quota (rounded down), so that threads
 * are counted from what a container was given, not from the host.
 */
export function availableCores(read: ReadKernelFile = readKernelFile): number {
  return Math.max(1, Math.floor(Math.min(availableParallelism(), cgroupCpus(read))));
}

/** Worker threads by default: one a core, at most 16. */
export function defaultWorkerCount(cores: number = availableCores()): number {
  return Math.min(cores, 16);
}

/** Quota over period, in CPUs; infinite without one. Looks at cgroup v2, then v1. */
function cgroupCpus(read: ReadKernelFile): number {
  const [quota, period] = read('/sys/fs/cgroup/cpu.max')?.trim().split(' ') ?? [
    read('/sys/fs/cgroup/cpu/cpu.cfs_quota_us'),
    read('/sys/fs/cgroup/cpu/cpu.cfs_period_us'),
  ];
  const cpus = Number(quota) / Number(period);
  return cpus > 0 && Number.isFinite(cpus) ? cpus : Infinity;
}

function readKernelFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
