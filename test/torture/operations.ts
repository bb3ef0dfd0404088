import type { Metadata } from '../../src/elements/metadata.js';
import { operationText } from './operation-text.js';
import { Population } from './population.js';

/** One change of a source of documents. */
export type Operation =
  | { readonly kind: 'put'; readonly id: string; readonly text: string; readonly metadata: Metadata }
  | { readonly kind: 'delete'; readonly id: string }
  /** A version that no pipeline can read: a failed element, and the last good version stays. */
  | { readonly kind: 'bad'; readonly id: string };

/** Share of the operations that go to a few documents: versions of theirs follow each other within milliseconds. */
export const hotShare = 0.1;
export const hotKeys = 20;
const badShare = 0.01;

/**
 * Endless changes: first new documents, so many as `population` says, then 60 % updates, 20 % deletions and 20 % new
 * documents. The same for the same chance.
 */
export function* operations(random: () => number, population: number): Generator<Operation> {
  const alive = new Population();
  let revision = 0;
  const put = (id: string): Operation => {
    alive.add(id);
    revision += 1;
    const metadata = { lang: random() < 0.5 ? 'en' : 'de', revision: String(revision) };
    return { kind: 'put', id, text: operationText(random, revision), metadata };
  };

  while (alive.born < population) yield put(alive.next());
  for (;;) {
    const hot = random() < hotShare;
    const turn = random();
    const known = hot ? `hot-${Math.floor(random() * hotKeys)}` : alive.pick(random());
    if (known === undefined || turn >= 0.8) yield put(hot ? known! : alive.next());
    else if (turn < badShare) yield { kind: 'bad', id: known };
    else if (turn < 0.6) yield put(known);
    else {
      alive.remove(known);
      yield { kind: 'delete', id: known };
    }
  }
}
