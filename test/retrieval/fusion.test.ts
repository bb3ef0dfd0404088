import { expect, test } from 'vitest';
import type { SearchHit } from '../../src/contracts/chunk-search.js';
import { fuseByRank, fusionDepth } from '../../src/retrieval/fusion.js';

function hits(...ids: string[]): SearchHit[] {
  return ids.map((id, at) => ({
    chunkId: id,
    documentId: `doc ${id}`,
    ordinal: 0,
    start: 0,
    end: 1,
    text: id,
    metadata: {},
    score: 1 - at / 10,
  }));
}

test('ranks decide, whatever the scores; a hit of two lists passes one that leads a single one', () => {
  const fused = fuseByRank([hits('a', 'b', 'c'), hits('d', 'c', 'e')], 4);
  expect(fused.map(({ chunkId }) => chunkId)).toEqual(['c', 'a', 'd', 'b']);
  expect(fused.map(({ score }) => score)).toEqual([1 / 63 + 1 / 62, 1 / 61, 1 / 61, 1 / 62]);
  expect(fused[0]).toMatchObject({ documentId: 'doc c', text: 'c' });
});

test('of equal scores the lower chunk id comes first; lists may be empty', () => {
  expect(fuseByRank([hits('b'), hits('a'), []], 5).map(({ chunkId }) => chunkId)).toEqual(['a', 'b']);
  expect(fuseByRank([], 5)).toEqual([]);
});

test('lists are asked deep enough that a hit of several lists is not missed', () => {
  // At rank r in n lists a hit scores n / (60 + r); the k-th of a single list scores 1 / (60 + k).
  for (const [k, lists] of [
    [1, 2],
    [5, 2],
    [100, 3],
    [1, 7],
  ] as const) {
    const depth = fusionDepth(k, lists);
    expect(depth).toBeGreaterThanOrEqual(k);
    expect(lists / (60 + depth + 1)).toBeLessThan(1 / (60 + k));
  }
});
