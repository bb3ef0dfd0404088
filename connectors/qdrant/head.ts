import { MillraceError } from '../../src/errors/millrace-error.js';
import { headKey, type CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';
import { compareAndSet, type Revision } from './revision.js';

/** Which generations a pipeline has: one point among its artifacts, changed as a whole. */
export interface Head {
  /** Rises with each change that writers must know of. */
  readonly epoch: number;
  /** The one that is read. */
  readonly active: number;
  /** The highest number that was ever given. */
  readonly last: number;
  /** In the order of their numbers. */
  readonly generations: readonly HeadGeneration[];
  /** Writers wait, each for so long from when it saw this. */
  readonly pause?: Pause;
  /** Absent while texts were never kept. */
  readonly keeps?: Keeping;
}

export interface HeadGeneration {
  readonly number: number;
  /** `making`: its collections are being made; `listing`: writers know of it, and its documents are yet to be noted. */
  readonly state: 'making' | 'listing' | 'filling' | 'active' | 'retired' | 'leaving';
  /** Milliseconds since 1970. */
  readonly since: number;
  /** The first epoch in which writers know of it. */
  readonly from: number;
}

export interface Pause {
  readonly id: string;
  readonly ms: number;
}

/** Whether what sources give is kept. */
export interface Keeping {
  readonly mode: 'no' | 'meanwhile' | 'always';
  /** The first epoch in which it was so; what was kept before counts no more. */
  readonly since: number;
}

export interface HeadStore {
  /** @returns undefined where nobody prepared the pipeline, or an earlier Millrace did, which knew one generation only */
  read(signal?: AbortSignal): Promise<Head | undefined>;
  /**
   * Changes the head as it is then. @param edit gives undefined where nothing is to be changed
   * @returns what it gave at last, once that is in effect
   */
  change(edit: (head: Head | undefined) => Head | undefined, signal?: AbortSignal): Promise<Head | undefined>;
}

interface Found extends Revision {
  readonly head: Head;
}

export function createHeadStore(port: QdrantPort, { artifacts }: CollectionNames): HeadStore {
  async function find(signal?: AbortSignal): Promise<Found | undefined> {
    try {
      const fields = { payload: ['json', 'rev', 'past'] };
      const [point] = await port.retrieve(artifacts, [headKey], fields, signal);
      if (point === undefined) return undefined;
      const { json, rev, past } = point.payload as unknown as { readonly json: string } & Revision;
      return { head: JSON.parse(json) as Head, rev, past };
    } catch (error) {
      // Nobody prepared this store yet.
      if (error instanceof MillraceError && error.code === 'store_layout') return undefined;
      throw error;
    }
  }

  return {
    read: async (signal) => (await find(signal))?.head,
    change: async (edit, signal) => {
      for (;;) {
        const base = await find(signal);
        const next = edit(base?.head);
        if (next === undefined) return undefined;
        const payload = { name: 'generations', json: JSON.stringify(next) };
        const [won] = await compareAndSet(port, artifacts, [{ id: headKey, base, payload }], signal);
        if (won !== undefined) return next;
      }
    },
  };
}

/** Those that are told of each change of the active one, seen from a generation: none but from the active one. */
export function followersOf(head: Head | undefined, of: number): readonly number[] {
  if (head === undefined || head.active !== of) return [];
  return head.generations
    .filter(({ state }) => state === 'listing' || state === 'filling' || state === 'retired')
    .map(({ number }) => number);
}
