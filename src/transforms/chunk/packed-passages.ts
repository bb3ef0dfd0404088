import type { Passage } from './passage.js';

/** A passage with the token ids of what the model will read. */
export interface TokenPassage extends Passage {
  readonly ids: Int32Array;
}

/**
 * Passages of several texts on their way between threads, as columns: an object each would cost more to send than the
 * passages cost to make.
 */
export interface PackedPassages {
  /** How many passages each text has. */
  readonly passages: Int32Array<ArrayBuffer>;
  /** Of each passage: start, end, tokens, how many ids. */
  readonly table: Int32Array<ArrayBuffer>;
  /** The ids of all passages, one after another. */
  readonly ids: Int32Array<ArrayBuffer>;
  /** JSON: of each passage what it is given beside its slice; `null` for nothing. */
  readonly extras: string;
}

type Extras = Pick<Passage, 'headings' | 'prefix'>;

const columns = 4;

export function packPassages(texts: readonly (readonly TokenPassage[])[]): PackedPassages {
  const all = texts.flat();
  const table = new Int32Array(all.length * columns);
  const ids = new Int32Array(all.reduce((sum, passage) => sum + passage.ids.length, 0));
  let used = 0;
  all.forEach((passage, index) => {
    table[index * columns] = passage.start;
    table[index * columns + 1] = passage.end;
    table[index * columns + 2] = passage.tokens;
    table[index * columns + 3] = passage.ids.length;
    ids.set(passage.ids, used);
    used += passage.ids.length;
  });
  const extras = JSON.stringify(all.map(extrasOf));
  return { passages: Int32Array.from(texts, ({ length }) => length), table, ids, extras };
}

function extrasOf({ headings = [], prefix }: Passage): Extras | null {
  if (headings.length === 0 && prefix === undefined) return null;
  return { ...(headings.length > 0 && { headings }), ...(prefix !== undefined && { prefix }) };
}

/** The passages of each text, in order. */
export function unpackPassages({ passages, table, ids, extras }: PackedPassages): TokenPassage[][] {
  const given = JSON.parse(extras) as (Extras | null)[];
  let index = 0;
  let used = 0;
  return Array.from(passages, (count) =>
    Array.from({ length: count }, () => {
      const from = used;
      used += table[index * columns + 3]!;
      const passage = {
        start: table[index * columns]!,
        end: table[index * columns + 1]!,
        tokens: table[index * columns + 2]!,
        ids: ids.subarray(from, used),
        ...given[index],
      };
      index += 1;
      return passage;
    }),
  );
}
