import { describe, expect, test } from 'vitest';
import { measure } from '../../../bench/eval/measures.js';
import { tokenPositions } from '../../../bench/eval/token-positions.js';

describe('the measures', () => {
  test('compare what was found with what was wanted, with what was retrieved, and with both', () => {
    const found = measure(
      [
        { start: 0, end: 10 },
        { start: 20, end: 30 },
      ],
      [{ start: 5, end: 25 }],
    );
    expect(found).toEqual({ recall: 10 / 20, precision: 10 / 20, iou: 10 / 30 });
  });

  test('count a position once that two chunks hold', () => {
    const chunks = [
      { start: 0, end: 10 },
      { start: 5, end: 15 },
    ];
    expect(measure(chunks, [{ start: 5, end: 10 }])).toEqual({ recall: 1, precision: 5 / 15, iou: 5 / 15 });
  });

  test('are 0 when nothing was retrieved or nothing of it was wanted', () => {
    const none = { recall: 0, precision: 0, iou: 0 };
    expect(measure([], [{ start: 0, end: 3 }])).toEqual(none);
    expect(measure([{ start: 3, end: 9 }], [{ start: 0, end: 3 }])).toEqual(none);
  });
});

describe('positions in tokens', () => {
  test('a token belongs to the part in which it begins, so parts side by side share none and lose none', () => {
    const inTokens = tokenPositions(Int32Array.of(0, 4, 4, 9, 12));
    expect(inTokens({ start: 0, end: 6 })).toEqual({ start: 0, end: 3 });
    expect(inTokens({ start: 6, end: 12 })).toEqual({ start: 3, end: 4 });
    expect(inTokens({ start: 12, end: 20 })).toEqual({ start: 4, end: 5 });
  });
});
