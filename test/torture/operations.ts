import type { Metadata } from '../../src/elements/metadata.js';

/** One change of the source. */
export type Operation =
  | { readonly kind: 'put'; readonly id: string; readonly text: string; readonly metadata: Metadata }
  | { readonly kind: 'delete'; readonly id: string }
  /** A version that no pipeline can read: a failed element, and the last good version stays. */
  | { readonly kind: 'bad'; readonly id: string };

/** Share of the operations that go to a few documents: versions of theirs follow each other within milliseconds. */
const hotShare = 0.1;
const hotKeys = 20;
const badShare = 0.01;

const words =
  'ants bees cows doves eels foxes geese hares ibis jays kites larks mice newts owls pigs quails rats seals toads voles wasps Übung naïve 数据 🦊 index vector stream commit replay'.split(
    ' ',
  );

/**
 * Endless changes: first new documents, so many as `population` says, then 60 % updates, 20 % deletions and 20 % new
 * documents. The same for the same chance.
 */
export function* operations(random: () => number, population: number): Generator<Operation> {
  const alive: string[] = [];
  const placeOf = new Map<string, number>();
  let born = 0;
  let revision = 0;

  const add = (id: string) => {
    if (placeOf.has(id)) return;
    placeOf.set(id, alive.length);
    alive.push(id);
  };
  const remove = (id: string) => {
    const place = placeOf.get(id);
    if (place === undefined) return;
    placeOf.delete(id);
    const last = alive.pop()!;
    if (last === id) return;
    alive[place] = last;
    placeOf.set(last, place);
  };
  const put = (id: string): Operation => {
    add(id);
    revision += 1;
    const metadata = { lang: random() < 0.5 ? 'en' : 'de', revision: String(revision) };
    return { kind: 'put', id, text: textOf(random, revision), metadata };
  };

  while (born < population) yield put(`doc-${(born += 1)}`);
  for (;;) {
    const hot = random() < hotShare;
    const turn = random();
    const known = hot ? `hot-${Math.floor(random() * hotKeys)}` : alive[Math.floor(random() * alive.length)];
    if (known === undefined || turn >= 0.8) yield put(hot ? known! : `doc-${(born += 1)}`);
    else if (turn < badShare) yield { kind: 'bad', id: known };
    else if (turn < 0.6) yield put(known);
    else {
      remove(known);
      yield { kind: 'delete', id: known };
    }
  }
}

/** Now a few chunks, now ten: an update leaves some chunks as they were, and others must go. */
function textOf(random: () => number, revision: number): string {
  const paragraphs = 1 + Math.floor(random() ** 3 * 12);
  const lines = [`# Revision ${random() < 0.5 ? 'one' : revision}`];
  for (let at = 0; at < paragraphs; at += 1) {
    // Half of the paragraphs are the same in every document and revision.
    const seed = random() < 0.5 ? at : Math.floor(random() * 1e6);
    const length = 10 + (seed % 30);
    lines.push(Array.from({ length }, (_, word) => words[(seed * 7 + word * 13) % words.length]).join(' '));
  }
  return lines.join('\n\n');
}
