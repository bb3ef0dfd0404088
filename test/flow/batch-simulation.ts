import { setImmediate as turn } from 'node:timers/promises';
import { BatchBudget } from '../../src/flow/batch-budget.js';
import { Batcher, type BatcherOptions } from '../../src/flow/batcher.js';
import { VirtualClock } from '../support/virtual-clock.js';

/** One worker in virtual time. */
export interface Simulation {
  /** Time, in ms, that the worker takes for this many texts; a throw fails the batch. */
  service(texts: number, batch: number): number;
  /** Batches until the end. */
  readonly batches: number;
  /** Ms from one text to the next; without it there is always a backlog. */
  readonly every?: number;
  readonly latencyMs?: number;
  readonly options?: Partial<BatcherOptions<number, number>>;
}

export interface SimulatedBatch {
  readonly texts: number;
  readonly ms: number;
}

export interface SimulationResult {
  readonly batches: readonly SimulatedBatch[];
  /** From the coming of each text to its result, in ms. */
  readonly waits: readonly number[];
  readonly failed: number;
}

const backlog = 2_000;

export async function simulate({
  service,
  batches: end,
  every,
  latencyMs,
  options,
}: Simulation): Promise<SimulationResult> {
  const clock = new VirtualClock(0);
  const batches: SimulatedBatch[] = [];
  const waits: number[] = [];
  let [failed, waiting, calls] = [0, 0, 0];
  const batcher = new Batcher<number, number>({
    cost: () => 1,
    padded: true,
    maxCost: new BatchBudget({ start: 8, min: 1, max: 1_000, latencyMs }),
    maxItems: 1_000,
    concurrency: 1,
    run: async (texts, served) => {
      const ms = service(texts.length, calls++);
      await clock.sleep(ms);
      batches.push({ texts: texts.length, ms });
      served(ms);
      return [...texts];
    },
    ...options,
  });
  const submit = () => {
    const came = clock.now();
    waiting += 1;
    batcher
      .submit(came)
      .then(
        () => waits.push(clock.now() - came),
        () => (failed += 1),
      )
      .finally(() => (waiting -= 1));
  };
  if (every !== undefined) void arrive(clock, every, submit, () => batches.length >= end);
  while (batches.length < end) {
    if (every === undefined) while (waiting < backlog) submit();
    // What was woken, and what that gave to others, runs before time goes on.
    await turn();
    await turn();
    clock.advance(Math.max(0, (clock.nextWake ?? clock.now()) - clock.now()));
  }
  return { batches, waits, failed };
}

async function arrive(clock: VirtualClock, every: number, submit: () => void, done: () => boolean) {
  while (!done()) {
    await clock.sleep(every);
    submit();
  }
}
