import type { Head, HeadGeneration } from './head.js';

/** What a pipeline begins with. */
export function firstHead(now: number): Head {
  const first = { number: 1, state: 'active', since: now, from: 0 } as const;
  return { epoch: 0, active: 1, last: 1, generations: [first] };
}

/** Writers go on. */
export function resumedHead(head: Head): Head {
  const { pause: _, ...rest } = head;
  return { ...rest, epoch: head.epoch + 1 };
}

/** Another generation is the active one, and the one before follows it; writers go on. */
export function switchedHead(head: Head, to: number, now: number): Head {
  const generations = head.generations.map((one): HeadGeneration => {
    if (one.number === to) return { ...one, state: 'active', since: now };
    return one.number === head.active ? { ...one, state: 'retired', since: now } : one;
  });
  return { ...resumedHead(head), active: to, generations };
}
