import type { AdmissionLimits, Load } from './admission.js';

export interface LaneSharesOptions {
  /** The bound on everything under way. */
  readonly limits: AdmissionLimits;
  /** Lanes that stand side by side, group by group: each has an equal share of the bound in its group. */
  readonly groups: readonly (readonly string[])[];
  /** A lane's share is full: nothing more should be let in. */
  onFull(lane: string, waiting: Load): void;
  /** It has room again. */
  onFree(lane: string): void;
}

interface LaneLoad {
  elements: number;
  bytes: number;
  full: boolean;
  readonly share: AdmissionLimits;
}

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
      for (const lane of lanes) this.#loads.set(lane, { elements: 0, bytes: 0, full: false, share });
    }
  }

  /** Runs the work on one element, which counts in these lanes until it ends. */
  async run<T>(lanes: readonly string[], bytes: number, work: () => Promise<T>): Promise<T> {
    for (const lane of lanes) this.#add(lane, 1, bytes);
    try {
      return await work();
    } finally {
      for (const lane of lanes) this.#add(lane, -1, -bytes);
    }
  }

  #add(lane: string, elements: number, bytes: number): void {
    const load = this.#loads.get(lane)!;
    load.elements += elements;
    load.bytes += bytes;
    const full = load.elements >= load.share.elements || load.bytes >= load.share.bytes;
    if (full === load.full) return;
    load.full = full;
    if (full) this.#options.onFull(lane, { elements: load.elements, bytes: load.bytes });
    else this.#options.onFree(lane);
  }
}
