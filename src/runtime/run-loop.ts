import type { Clock } from '../contracts/context.js';
import type { FailedStore } from '../contracts/failed-store.js';
import type { Sink } from '../contracts/sink.js';
import type {
  Delivery,
  ElementsDelivery,
  PassScope,
  Source,
  SourceLag,
  SourceState,
} from '../contracts/source.js';
import type { SourceElement } from '../elements/document.js';
import { ChunkIds } from '../elements/ids.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Admission, Load } from '../flow/admission.js';
import { retry } from '../flow/retry.js';
import type { Stop } from '../flow/stop.js';
import type { UnderWay } from '../flow/under-way.js';
import type { Report, RunSummary } from '../observability/events.js';
import { createBatchedSink } from '../pipeline/batched-sink.js';
import { createPatientSink } from '../pipeline/patient-sink.js';
import type { Chain, DocumentCaps } from '../pipeline/document-task.js';
import { ElementTasks } from './element-tasks.js';
import { forgetSuperseded } from './forget-superseded.js';
import { createObservation, type Observation } from './observation.js';
import { purge } from './purge.js';
import { sweep } from './sweep.js';

export interface RunLoopOptions {
  readonly pipeline: string;
  readonly source: Source;
  readonly chain: Chain;
  readonly sink: Sink;
  readonly failed: FailedStore;
  /** What the source remembers. */
  readonly state: SourceState;
  /** Keeps what is under way within bounds. */
  readonly admission: Admission;
  /** Learns how long each delivery is under way. */
  readonly underWay: UnderWay;
  readonly limits: DocumentCaps & { readonly maxItemBytes: number };
  readonly watch: boolean;
  /** How often a source that goes on hands over all that it has anew, in ms; undefined: never. */
  readonly rereadEveryMs: number | undefined;
  readonly allowMassDeletion: boolean;
  /** Leaves the records of failures that are over. */
  readonly keepRecords: boolean;
  readonly clock: Clock;
  readonly stop: Stop;
  readonly report: Report;
  /** Makes reading fast after many writes; called when a source that goes on has caught up. */
  tune(): Promise<void>;
}

/**
 * The loop: takes a delivery while there is room, brings each element to its outcome after the earlier ones of the same
 * document, and settles the delivery once all its outcomes are durable.
 * @throws MillraceError of the first failure that stops a run; whatever was under way then is not settled
 */
export async function runLoop(options: RunLoopOptions): Promise<RunSummary> {
  const loop = new Loop(options);
  return loop.run();
}

class Loop {
  readonly #options: RunLoopOptions;
  readonly #tasks: ElementTasks;
  readonly #versions: Observation;
  readonly #admission: Admission;
  readonly #underWay = new Set<Promise<void>>();
  #fault: MillraceError | undefined;
  /** The answer to a write may have been lost, and with it the word that a failure is over. So too before the start. */
  #unsure = true;

  constructor(options: RunLoopOptions) {
    const { pipeline, source, chain, sink, failed, limits, clock, stop, report } = options;
    const signal = stop.aborting;
    const patient = createPatientSink({
      ...{ sink, clock, signal },
      report: (event) => {
        this.#unsure = true;
        report(event);
      },
    });
    const batched = createBatchedSink({ sink: patient, clock, signal, report });
    this.#options = { ...options, sink: patient };
    this.#admission = options.admission;
    this.#versions = createObservation(batched, clock);
    this.#tasks = new ElementTasks({
      pipeline,
      chunkIds: new ChunkIds(pipeline),
      source: source.name,
      chain,
      sink: batched,
      failed,
      caps: limits,
      clock,
      report,
      signal,
    });
  }

  async run(): Promise<RunSummary> {
    const { pipeline, watch, clock, stop, report } = this.#options;
    const began = clock.now();
    report({ type: 'started', pipeline, watch });
    await this.#readAll();
    await Promise.all(this.#underWay);
    if (this.#fault !== undefined) throw this.#fault;
    const end = stop.aborting.aborted ? 'aborted' : stop.draining.aborted ? 'drained' : 'complete';
    const summary = this.#tasks.tally.summary(clock.now() - began, end);
    report({ type: 'finished', summary });
    return summary;
  }

  async #readAll(): Promise<void> {
    const { source, watch, limits, rereadEveryMs, allowMassDeletion, stop, report } = this.#options;
    const context = {
      signal: stop.draining,
      watch,
      rereadEveryMs,
      maxItemBytes: limits.maxItemBytes,
      allowMassDeletion,
      ...this.#versions,
      state: this.#options.state,
      lag: (lag: SourceLag) => report({ type: 'lag', source: source.name, ...lag }),
    };
    try {
      await this.#forgetSuperseded();
      for await (const delivery of source.deliveries(context)) {
        if (stop.draining.aborted) break;
        await this.#take(delivery);
      }
    } catch (error) {
      // A drain that cut something short before anything was read is no fault.
      if (stop.draining.aborted && MillraceError.from(error).code === 'aborted') return;
      this.#giveUp(error);
    }
  }

  async #forgetSuperseded(): Promise<void> {
    const { sink, failed, source, clock, stop, report, keepRecords } = this.#options;
    if (!this.#unsure || keepRecords) return;
    this.#unsure = false;
    await retry(() => forgetSuperseded({ sink, failed, source: source.name, signal: stop.draining }), {
      clock,
      signal: stop.draining,
      onRetry: (event) => report({ type: 'retry', lane: 'failed', ...event }),
      onRecovered: () => report({ type: 'recovered', lane: 'failed' }),
    });
  }

  async #take(delivery: Delivery): Promise<void> {
    const { report, watch } = this.#options;
    if (delivery.kind === 'elements') {
      await this.#admit(delivery.elements, () => this.#settle(delivery));
      return;
    }
    await Promise.all(this.#underWay);
    if (this.#options.stop.draining.aborted) return;
    if (delivery.kind === 'cleared') {
      await this.#sweep(delivery.scope, delivery.commanded);
      return delivery.settle();
    }
    if (delivery.kind === 'complete') await this.#sweep(delivery.scope);
    if (!watch) return;
    await this.#forgetSuperseded();
    await this.#options.tune();
    report({ type: 'caught-up' });
  }

  /** Starts `work` once there is room for the elements, and gives the room back when it ends. */
  async #admit(elements: readonly SourceElement[], work: () => Promise<void>): Promise<void> {
    const load = loadOf(elements);
    if (!(await this.#roomFor(load))) return;
    const over = this.#options.underWay.enter();
    const task = work()
      .catch((error: unknown) => this.#giveUp(error))
      .finally(() => {
        this.#admission.release(load);
        over();
        this.#underWay.delete(task);
      });
    this.#underWay.add(task);
  }

  /** Waits for room. @returns false when a stop came first: what waits is not under way, and comes again */
  async #roomFor(load: Load): Promise<boolean> {
    const { draining } = this.#options.stop;
    try {
      await this.#admission.admit(load, draining);
      return true;
    } catch (error) {
      if (draining.aborted) return false;
      throw error;
    }
  }

  async #settle(delivery: ElementsDelivery): Promise<void> {
    const { progress } = delivery;
    const outcomes = await this.#tasks.process(delivery.elements);
    // Nothing is asked of the delivery after this, so that its elements may go while the source confirms them.
    await delivery.settle(outcomes);
    if (progress !== undefined) this.#options.report({ type: 'progress', share: progress });
  }

  async #sweep(scope: PassScope, commanded = false): Promise<void> {
    const { sink, failed, source, allowMassDeletion, stop, report } = this.#options;
    const options = {
      sink,
      source: source.name,
      scope,
      allowMassDeletion: allowMassDeletion || commanded,
      signal: stop.aborting,
    };
    let documents = 0;
    for await (const deletions of sweep(options)) {
      const outcomes = await this.#tasks.process(deletions);
      documents += outcomes.filter(({ kind }) => kind === 'deleted').length;
    }
    await purge({
      sink,
      failed,
      source: source.name,
      scope,
      process: (deletions) => this.#tasks.process(deletions),
      signal: stop.aborting,
    });
    if (documents > 0) report({ type: 'swept', documents });
  }

  /** The first fault ends the run; the aborts that follow from it are not faults of their own. */
  #giveUp(thrown: unknown): void {
    const { stop } = this.#options;
    const error = MillraceError.from(thrown);
    if (!stop.aborting.aborted) this.#fault ??= error;
    stop.abort();
  }
}

function loadOf(elements: readonly SourceElement[]): Load {
  let bytes = 0;
  for (const element of elements) bytes += element.kind === 'document' ? element.text.length * 2 : 0;
  return { elements: elements.length, bytes };
}
