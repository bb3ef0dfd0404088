import type { StoreWrite } from '../../src/contracts/sink.js';
import { termSpace, type Terms } from '../../src/elements/terms.js';

/** A sparse vector of pgvector holds at most so many. */
const mostTerms = 16_000;

/** Counts of a chunk are kept up to here: further ones change a score by less than 2 %, and a search packs four counts into a number. */
export const mostCount = 63;

/** How many words a write brings, as a search counts them. */
export function wordsOf({ chunks }: Pick<StoreWrite, 'chunks'>): number {
  let sum = 0;
  for (const { terms } of chunks)
    for (let term = 0; term < Math.min(mostTerms, terms?.ids.length ?? 0); term += 1)
      sum += Math.min(mostCount, terms!.counts[term]!);
  return sum;
}

export function termsBytes(terms: Terms | undefined): number {
  return terms === undefined ? 4 : 4 + 12 + Math.min(mostTerms, terms.ids.length) * 8;
}

/** pgvector's `sparsevec_send`: dimensions, number of pairs, an unused field; then the indices, then the values. */
export function writeTerms(out: Buffer, at: number, terms: Terms | undefined): number {
  if (terms === undefined) return out.writeInt32BE(-1, at);
  const { ids, counts } = terms;
  const length = Math.min(mostTerms, ids.length);
  at = out.writeInt32BE(termsBytes(terms) - 4, at);
  at = out.writeInt32BE(termSpace, at);
  at = out.writeInt32BE(length, at);
  at = out.writeInt32BE(0, at);
  for (let term = 0; term < length; term += 1) at = out.writeInt32BE(ids[term]!, at);
  for (let term = 0; term < length; term += 1) at = out.writeFloatBE(Math.min(mostCount, counts[term]!), at);
  return at;
}
