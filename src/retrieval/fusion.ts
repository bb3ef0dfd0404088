import type { SearchHit } from '../contracts/chunk-search.js';

/** Softens the weight of the first ranks; 60 as in the paper. */
const softening = 60;

/**
 * One ranking of several by reciprocal rank fusion: a hit scores the sum of 1 / (60 + rank) over the lists that it is in,
 * ranks counted from 1. Scores of different models cannot be compared, ranks can. Of equal scores the lower chunk id
 * comes first. (Cormack, Clarke, Buettcher: Reciprocal Rank Fusion, SIGIR 2009, https://doi.org/10.1145/1571941.1572114)
 * @param lists best first, no chunk twice in one
 * @param k hits at most
 */
export function fuseByRank(lists: readonly (readonly SearchHit[])[], k: number): SearchHit[] {
  const fused = new Map<string, { readonly hit: SearchHit; score: number }>();
  for (const list of lists)
    for (const [at, hit] of list.entries()) {
      const found = fused.get(hit.chunkId) ?? { hit, score: 0 };
      found.score += 1 / (softening + at + 1);
      fused.set(hit.chunkId, found);
    }
  return [...fused.values()]
    .sort((a, b) => b.score - a.score || (a.hit.chunkId < b.hit.chunkId ? -1 : 1))
    .slice(0, k)
    .map(({ hit, score }) => ({ ...hit, score }));
}

/**
 * Hits to ask each of so many lists for: one that lies low in all of them may pass one that is high in a single one. What
 * is below this depth in every list cannot be among the first k.
 */
export function fusionDepth(k: number, lists: number): number {
  return lists * (softening + k) - softening;
}
