import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BucketDigests, bucketOf } from '../../../src/runtime/audit/bucket-digests.js';

const digests = (pairs: Iterable<readonly [string, string]>) => {
  const made = new BucketDigests();
  for (const [id, hash] of pairs) made.add(id, hash);
  return made;
};

test('equal sides have equal digests in any order, and a changed pair shows in the bucket of its id', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(fc.string(), fc.string()), { selector: ([id]) => id, minLength: 1 }),
      fc.nat(),
      (pairs, at) => {
        const [id, hash] = pairs[at % pairs.length]!;
        const changed = pairs.map((pair) => (pair[0] === id ? ([id, `${hash}!`] as const) : pair));
        const less = pairs.filter((pair) => pair[0] !== id);
        expect(digests(pairs).differing(digests(pairs.toReversed()))).toEqual(new Set());
        for (const other of [changed, less])
          expect(digests(pairs).differing(digests(other))).toEqual(new Set([bucketOf(id)]));
      },
    ),
    { numRuns: 200 },
  );
});
