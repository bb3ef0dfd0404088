import { randomUUID } from 'node:crypto';
import type { Clock } from '../../src/contracts/context.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Head, HeadStore, Pause } from './head.js';
import { resumedHead } from './head-changes.js';
import { leaseMs } from './leases.js';
import type { CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';
import { untilAborted } from '../../src/errors/until-aborted.js';

export interface WriterLeaseParts {
  readonly port: QdrantPort;
  readonly names: CollectionNames;
  readonly heads: HeadStore;
  readonly pipeline: string;
  readonly clock: Clock;
}

/** Whoever changes the head waits for what the leases of all writers show of it. */
export interface WriterLease {
  /**
   * Work that changes a generation while it is the active one and writers are not paused. What it gives holds: until it
   * resolves nobody takes this process for gone, or its generation is still the active one afterwards.
   * @param work gets a check that throws where the generation is not the active one any more, as far as is known
   * @throws MillraceError `generation_moved` when another generation is active, also after the work: then somebody else has to do it
   */
  during<T>(
    generation: number,
    signal: AbortSignal | undefined,
    work: (check: () => void) => Promise<T>,
  ): Promise<T>;
  /** The head, as a lease that holds now knows it. */
  hold(signal?: AbortSignal): Promise<Head | undefined>;
  /** Shows what this process knows at once, where it has a lease. */
  show(): Promise<void>;
  /** The lease is over. */
  end(): Promise<void>;
}

const pollMs = 50;

/**
 * A point that names the epoch of the head that a writing process has seen, renewed by its writes: an idle process lets it
 * run out and reads the head anew. It is put before the head is read, so whoever changes the head either finds it or is seen.
 */
export function createWriterLease({ port, names, heads, pipeline, clock }: WriterLeaseParts): WriterLease {
  const id = randomUUID();
  const ended = new AbortController();
  let head: Head | undefined;
  /** Pauses that were seen, and when they are over here. */
  let pause: (Pause & { readonly until: number }) | undefined;
  let shown = -1;
  let put = false;
  let [freshUntil, validUntil] = [-Infinity, -Infinity];
  /** Rises when the lease had run out, and others may have gone on without us. */
  let term = 0;
  let inside = 0;
  let renewing: Promise<void> | undefined;

  async function putEpoch(epoch: number): Promise<void> {
    const payload = { writer: id, epoch, beat: randomUUID() };
    put = true;
    await port.replace(names.artifacts, [{ id, vector: {}, payload }], {}, ended.signal);
    shown = epoch;
  }

  /** What writers under way have not seen may not be shown: whoever pauses waits for the last of them. */
  function showable(): number {
    return head === undefined || (head.pause !== undefined && inside > 0) ? shown : head.epoch;
  }

  async function renew(): Promise<void> {
    const began = clock.now();
    await putEpoch(showable());
    if (clock.now() >= validUntil) term += 1;
    const next = await heads.read(ended.signal);
    head = next;
    if (next?.pause === undefined) pause = undefined;
    else if (next.pause.id !== pause?.id) pause = { ...next.pause, until: clock.now() + next.pause.ms };
    [freshUntil, validUntil] = [began + leaseMs / 3, began + leaseMs];
    if (showable() > shown) await putEpoch(showable());
  }

  async function refresh(signal: AbortSignal | undefined): Promise<void> {
    renewing ??= renew().finally(() => (renewing = undefined));
    await untilAborted(renewing, signal);
  }

  async function hold(signal?: AbortSignal): Promise<Head | undefined> {
    signal?.throwIfAborted();
    if (clock.now() >= freshUntil) await refresh(signal);
    return head;
  }

  /** Waits until writers may go on. One that goes on by itself says so first: a switch that comes late must fail. */
  async function outlast(signal: AbortSignal | undefined): Promise<void> {
    const waited = pause;
    for (;;) {
      const now = await heads.read(signal);
      if (now?.pause === undefined || now.pause.id !== waited?.id) break;
      if (clock.now() >= waited.until)
        await heads.change((found) => {
          return found?.pause?.id === waited.id ? resumedHead(found) : undefined;
        }, signal);
      else await clock.sleep(pollMs, signal);
    }
    await refresh(signal);
  }

  function check(generation: number): void {
    const active = head?.active ?? 1;
    if (active === generation) return;
    throw new MillraceError(
      'generation_moved',
      `Pipeline ${JSON.stringify(pipeline)} is kept in generation ${active} now, no longer in ${generation}.`,
      { hint: 'Start again with the configuration that the active generation was filled by.' },
    );
  }

  async function leave(): Promise<void> {
    inside -= 1;
    // Somebody waits for this; if it cannot be said, the lease runs out.
    if (inside === 0 && head?.pause !== undefined) await putEpoch(head.epoch).catch(() => undefined);
  }

  return {
    during: async (generation, signal, work) => {
      for (;;) {
        await hold(signal);
        check(generation);
        if (pause === undefined) break;
        await outlast(signal);
      }
      inside += 1;
      const since = term;
      let result;
      try {
        result = await work(() => check(generation));
        await hold(signal);
      } finally {
        await leave();
      }
      // Taken for gone, it may have been left behind by a switch that is being made now.
      while (term !== since && pause !== undefined) await outlast(signal);
      check(generation);
      return result;
    },
    hold,
    show: async () => {
      if (put) await refresh(undefined);
    },
    end: async () => {
      await renewing?.catch(() => undefined);
      if (put)
        await port
          .update(names.artifacts, [{ delete: { filter: { must: [{ has_id: [id] }] } } }])
          .catch(() => undefined);
      ended.abort();
    },
  };
}
