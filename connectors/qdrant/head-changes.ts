import type { Head, HeadGeneration } from './head.js';

/** What a pipeline begins with. */
export function firstHead(now: number): Head {
  const first = { number: 1, state: 'active', since: now, from: 0 } as const;
  return { epoch: 0, active: 1, last: 1, generations: [first] };
}

/** @returns undefined where nothing changes */
export type GenerationEdit = (one: HeadGeneration, head: Head) => HeadGeneration | undefined;

/** One generation is another way. @returns undefined where it is not there, or nothing changes */
export function alteredHead(head: Head, number: number, edit: GenerationEdit): Head | undefined {
  const one = head.generations.find((other) => other.number === number);
  const next = one && edit(one, head);
  if (next === undefined) return undefined;
  const generations = head.generations.map((other) => (other === one ? next : other));
  return { ...head, epoch: head.epoch + 1, generations };
}

/** Writers go on. */
export function resumedHead(head: Head): Head {
  const { pause: _, ...rest } = head;
  return { ...rest, epoch: head.epoch + 1 };
}

/** What sources give is kept from now on. @returns undefined where nothing changes */
export function keepingHead(head: Head, mode: 'meanwhile' | 'always'): Head | undefined {
  const { keeps } = head;
  if (keeps?.mode === 'always' || keeps?.mode === mode) return undefined;
  const epoch = head.epoch + 1;
  const since = keeps?.mode === 'meanwhile' ? keeps.since : epoch;
  return { ...head, epoch, keeps: { mode, since } };
}

/** It is kept no longer than what is filled from it, or may be switched back to, needs it. @returns undefined where nothing changes */
export function keptMeanwhileHead(head: Head): Head | undefined {
  if (head.keeps === undefined || head.keeps.mode === 'no') return undefined;
  const mode = head.generations.length > 1 ? 'meanwhile' : 'no';
  if (mode === head.keeps.mode) return undefined;
  const epoch = head.epoch + 1;
  return { ...head, epoch, keeps: { mode, since: mode === 'no' ? epoch : head.keeps.since } };
}

/** A generation is gone, and what was kept for a filling alone with the last one beside the active one. */
export function withoutGeneration(head: Head, number: number): Head {
  const left = { ...head, generations: head.generations.filter((one) => one.number !== number) };
  return (left.keeps?.mode === 'meanwhile' ? keptMeanwhileHead(left) : undefined) ?? left;
}

/** The epoch since which texts are kept; undefined where they are not. */
export function keptSince(head: Head | undefined): number | undefined {
  return head?.keeps === undefined || head.keeps.mode === 'no' ? undefined : head.keeps.since;
}

/** Another generation is the active one, and the one before follows it; writers go on. */
export function switchedHead(head: Head, to: number, now: number): Head {
  const generations = head.generations.map((one): HeadGeneration => {
    if (one.number === to) return { ...one, state: 'active', since: now };
    return one.number === head.active ? { ...one, state: 'retired', since: now } : one;
  });
  return { ...resumedHead(head), active: to, generations };
}
