import { MillraceError } from '../../../errors/millrace-error.js';
import { availableCores } from '../../workers/cores.js';
import { availableMemory } from '../../workers/memory.js';
import { createWorkerPool } from '../../workers/pool.js';
import type { Place, PlaceOptions } from './place.js';

/** Of the machine's memory, for weights where nothing else is said: the rest is for what is computed with them. */
const share = 0.75;

/**
 * The shared workers, or some of its own where processes are asked for or not all workers have room for the weights.
 * @throws MillraceError `resources_insufficient`
 */
export function openOnCpu({
  model,
  bytes,
  pool: shared,
  options,
  module,
  serviceOptions,
}: PlaceOptions): Place {
  const { isolation, memoryMb } = options;
  const machine = availableMemory();
  const budget = budgetOf(memoryMb, machine);
  if (budget > machine)
    throw insufficient('memoryMb', `${memoryMb} MB of memory`, `${megabytes(machine)} MB`);
  if (bytes > budget)
    throw insufficient(
      'memoryMb',
      `${megabytes(bytes)} MB for the weights of ${model}`,
      `${megabytes(budget)} MB`,
    );
  const workers = cpuWorkers(bytes, shared.size, memoryMb);
  const cores = availableCores();
  const threads = threadsOf(options.threads, workers);
  const own =
    isolation === 'process' || workers < shared.size
      ? createWorkerPool({ size: workers, isolation })
      : undefined;
  const service = (own ?? shared).service(module, serviceOptions({ threads, device: 'cpu', deviceIndex: 0 }));
  return {
    device: 'cpu',
    summary: `${workers} workers (${isolation}) of ${threads} threads on ${cores} cores`,
    // One runs in each worker, and one waits there: no worker waits for the main thread between two.
    concurrency: workers * 2,
    services: [service],
    call: (method, payload, signal) => service.call(method, payload, { signal }),
    async close() {
      await service.release();
      await own?.close();
    },
  };
}

function budgetOf(memoryMb: number | undefined, machine: number): number {
  return memoryMb === undefined ? machine * share : memoryMb * 1e6;
}

/** Workers that have room for weights of so many bytes, of `size` that there are; 1 at least. */
export function cpuWorkers(bytes: number, size: number, memoryMb: number | undefined): number {
  return Math.max(1, Math.min(size, Math.floor(budgetOf(memoryMb, availableMemory()) / bytes)));
}

/**
 * Threads of each session: from the CPUs that this process may use, shared among workers.
 * @throws MillraceError `resources_insufficient` when more are asked for than there are CPUs
 */
export function threadsOf(asked: number | undefined, workers: number, cores = availableCores()): number {
  if (asked !== undefined && asked > cores)
    throw insufficient('threads', `${asked} threads`, `${cores} cores`);
  return asked ?? Math.max(1, Math.floor(cores / workers));
}

function insufficient(option: string, asked: string, given: string): MillraceError {
  return new MillraceError(
    'resources_insufficient',
    `A model asks for ${asked}, and there are ${given} for it`,
    {
      hint: `Lower ${option} or leave it out, choose a smaller model or dtype, or give this process more.`,
    },
  );
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
