import { hotKeys, hotShare } from './operations.js';
import { operationText } from './operation-text.js';
import { Population } from './population.js';

/** One change of a table. */
export type RowOperation =
  | {
      readonly kind: 'put';
      readonly id: string;
      readonly body: string;
      readonly lang: string;
      readonly revision: string;
    }
  /** Leaves the text where it is: long ones lie apart from the row, and the log does not repeat them. */
  | { readonly kind: 'touch'; readonly id: string; readonly lang: string }
  /** Another primary key. */
  | { readonly kind: 'rename'; readonly id: string; readonly to: string }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'truncate' };

/** What the look-up knows; a row in another language is a failed element. */
export const languages: Readonly<Record<string, string>> = { en: 'English', de: 'Deutsch' };
export const unlisted = 'xx';
/** Bytes: a row above is a failed element. Long texts stay below, oversized ones are above it. */
export const maxRowBytes = 16_000;

const shares = { oversized: 0.01, touch: 0.06, rename: 0.03, long: 0.06, unlisted: 0.02 };

/**
 * Endless changes: first new rows, so many as `population` says, then 60 % updates, 20 % deletions and 20 % new rows, of
 * which some no pipeline can read; and now and then, once in three times the population, all rows at once. The same for
 * the same chance.
 */
export function* rowOperations(random: () => number, population: number): Generator<RowOperation> {
  const alive = new Population();
  let revision = 0;
  const lang = () => (random() < shares.unlisted ? unlisted : random() < 0.5 ? 'en' : 'de');
  const body = () => {
    const chance = random();
    if (chance < shares.oversized) return 'far too long '.repeat(2_000);
    const text = operationText(random, revision);
    return chance < shares.oversized + shares.long ? text + '\n\n' + 'A long one. '.repeat(250) : text;
  };
  const put = (id: string): RowOperation => {
    alive.add(id);
    revision += 1;
    return { kind: 'put', id, body: body(), lang: lang(), revision: String(revision) };
  };

  for (let missing = population; ;) {
    if (missing > 0) {
      missing -= 1;
      yield put(alive.next());
      continue;
    }
    if (random() < 1 / (3 * population)) {
      alive.clear();
      missing = population;
      yield { kind: 'truncate' };
      continue;
    }
    const hot = random() < hotShare;
    const turn = random();
    const known = hot ? `hot-${Math.floor(random() * hotKeys)}` : alive.pick(random());
    if (known === undefined || turn >= 0.8) yield put(hot ? known! : alive.next());
    else if (turn >= 0.6) {
      alive.remove(known);
      yield { kind: 'delete', id: known };
    } else if (turn < shares.touch) yield { kind: 'touch', id: known, lang: lang() };
    else if (turn < shares.touch + shares.rename) {
      const to = alive.next();
      alive.remove(known);
      alive.add(to);
      yield { kind: 'rename', id: known, to };
    } else yield put(known);
  }
}
