import type { Clock } from '../contracts/context.js';
import type { Admission, AdmissionLimits } from './admission.js';

export interface LaneSharesOptions {
  /** The bound on everything under way, and what keeps to it. */
  readonly limits: AdmissionLimits;
  readonly admission: Admission;
  /** Lanes that stand side by side, group by group: each has an equal share of the bound in its group. */
  readonly groups: readonly (readonly string[])[];
  readonly clock: Clock;
  /** Ends the watch over full lanes. */
  readonly signal: AbortSignal;
  /** A lane has been full for so long without a break that it holds up all others. */
  onStall(lane: string, elements: number): void;
  /** It has room again. */
  onFree(lane: string): void;
}

interface LaneLoad {
  readonly lane: string;
  readonly share: AdmissionLimits;
  elements: number;
  bytes: number;
  fullSince: number | undefined;
  stalled: boolean;
  watched: boolean;
}

/** A lane that works but is the one that is used most is full again and again, for some milliseconds. */
const stallMs = 5_000;

/**
 * Counts what is under way in each lane. A slow lane holds up nobody until its share of the bound is full of what waits
 * for it; from then on nothing more is let in, since what comes next may be for that lane too.
 */
export class LaneShares {
  readonly #options: LaneSharesOptions;
  readonly #loads = new Map<string, LaneLoad>();

  constructor(options: LaneSharesOptions) {
    const { limits, groups } = options;
    this.#options = options;
    for (const lanes of groups) {
      const share = {
        elements: Math.ceil(limits.elements / lanes.length),
        bytes: Math.ceil(limits.bytes / lanes.length),
      };
      for (const lane of lanes)
        this.#loads.set(lane, {
          ...{ lane, share, elements: 0, bytes: 0 },
          ...{ fullSince: undefined, stalled: false, watched: false },
        });
    }
  }

  /** Runs the work on one element, or on so many, which count in these lanes until it ends. */
  async run<T>(lanes: readonly string[], bytes: number, work: () => Promise<T>, elements = 1): Promise<T> {
    for (const lane of lanes) this.#add(lane, elements, bytes);
    try {
      return await work();
    } finally {
      for (const lane of lanes) this.#add(lane, -elements, -bytes);
    }
  }

  #add(lane: string, elements: number, bytes: number): void {
    const { admission, clock, onFree } = this.#options;
    const load = this.#loads.get(lane)!;
    load.elements += elements;
    load.bytes += bytes;
    const full = load.elements >= load.share.elements || load.bytes >= load.share.bytes;
    if (full === (load.fullSince !== undefined)) return;
    if (full) {
      load.fullSince = clock.now();
      admission.hold(lane);
      void this.#watch(load);
      return;
    }
    load.fullSince = undefined;
    admission.letGo(lane);
    if (load.stalled) onFree(lane);
    load.stalled = false;
  }

  /** One at a time a lane, whatever often it is full. */
  async #watch(load: LaneLoad): Promise<void> {
    if (load.watched) return;
    load.watched = true;
    const { clock, signal, onStall } = this.#options;
    try {
      while (load.fullSince !== undefined && !load.stalled) {
        await clock.sleep(Math.max(1, load.fullSince + stallMs - clock.now()), signal);
        if (load.fullSince === undefined || clock.now() < load.fullSince + stallMs) continue;
        load.stalled = true;
        onStall(load.lane, load.elements);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      load.watched = false;
    }
  }
}
