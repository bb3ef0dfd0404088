import type { Passage } from './passage.js';

/**
 * Passages of several texts on their way between threads, as columns: an object each would cost more to send than the
 * passages cost to make.
 */
export interface PackedPassages {
  /** How many passages each text has. */
  readonly passages: Int32Array<ArrayBuffer>;
  /** Of each passage: start, end, tokens, index of its extras. */
  readonly table: Int32Array<ArrayBuffer>;
  /** JSON: what passages are given beside their slice; neighbours that are given the same name it once. */
  readonly extras: string;
}

type Extras = Pick<Passage, 'headings' | 'prefix'>;

const columns = 4;

export function packPassages(texts: readonly (readonly Passage[])[]): PackedPassages {
  const passages = Int32Array.from(texts, ({ length }) => length);
  const table = new Int32Array(passages.reduce((sum, count) => sum + count, 0) * columns);
  const extras: Extras[] = [];
  let last: Passage | undefined;
  let at = 0;
  for (const text of texts)
    for (const passage of text) {
      if (last === undefined || passage.headings !== last.headings || passage.prefix !== last.prefix)
        extras.push(extrasOf(passage));
      last = passage;
      table[at++] = passage.start;
      table[at++] = passage.end;
      table[at++] = passage.tokens;
      table[at++] = extras.length - 1;
    }
  return { passages, table, extras: JSON.stringify(extras) };
}

/** How many passages there are in all. */
export function countOf({ table }: PackedPassages): number {
  return table.length / columns;
}

function extrasOf({ headings = [], prefix }: Passage): Extras {
  return { ...(headings.length > 0 && { headings }), ...(prefix !== undefined && { prefix }) };
}

/** The passages of each text, in order. */
export function unpackPassages({ passages, table, extras }: PackedPassages): Passage[][] {
  const given = JSON.parse(extras) as Extras[];
  let at = 0;
  return Array.from(passages, (count) => {
    const unpacked = new Array<Passage>(count);
    for (let index = 0; index < count; index += 1, at += columns) {
      const { headings, prefix } = given[table[at + 3]!]!;
      unpacked[index] = { start: table[at]!, end: table[at + 1]!, tokens: table[at + 2]!, headings, prefix };
    }
    return unpacked;
  });
}
