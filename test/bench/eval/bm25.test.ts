import { describe, expect, test } from 'vitest';
import { best } from '../../../bench/eval/best.js';
import { createBm25 } from '../../../bench/eval/bm25.js';

describe('BM25', () => {
  test('gives the score of the formula', () => {
    const score = createBm25(['ant bee ant', 'bee']);
    const rarity = Math.log(1 + (2 - 1 + 0.5) / (1 + 0.5));
    const norm = 1.2 * (1 - 0.75 + (0.75 * 3) / 2);
    const [first, second] = score('Ant?');
    expect(first).toBeCloseTo((rarity * 2 * 2.2) / (2 + norm), 12);
    expect(second).toBe(0);
  });

  test('puts rare words over common ones and short texts over long ones', () => {
    const texts = ['the cat sat', 'the dog sat', 'the dog sat on the long mat by the door', 'the bird'];
    expect(best(createBm25(texts)('the dog'), 2)).toEqual([1, 2]);
    expect(best(createBm25(texts)('the bird'), 1)).toEqual([3]);
  });

  test('finds words of any script', () => {
    expect(best(createBm25(['кошка', 'собака'])('СОБАКА'), 1)).toEqual([1]);
  });
});

test('equal scores are ranked in the order of the texts', () => {
  expect(best(Float64Array.of(1, 2, 1, 2), 3)).toEqual([1, 3, 0]);
});
