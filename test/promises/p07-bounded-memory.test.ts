import { expect, test } from 'vitest';
import type { Delivery, Source } from '../../src/contracts/source.js';
import { document, logOf, outcomes, paragraphs, smallChunks, usePglite } from './bed.js';

const openBed = usePglite();

/** Hands over single documents and knows how many were never settled yet. */
function counting(texts: readonly string[]) {
  const seen = { underWay: 0, most: 0, mostBytes: 0, bytes: 0, settled: 0 };
  const source: Source = {
    name: 'log',
    async *deliveries(): AsyncGenerator<Delivery> {
      for (const [n, text] of texts.entries()) {
        // The one delivery that a source may hold while the run has no room is not under way yet.
        seen.most = Math.max(seen.most, seen.underWay);
        seen.mostBytes = Math.max(seen.mostBytes, seen.bytes);
        seen.underWay += 1;
        seen.bytes += text.length * 2;
        yield {
          kind: 'elements',
          elements: [document(`d${n}`, 1, text)],
          settle: async () => {
            seen.underWay -= 1;
            seen.bytes -= text.length * 2;
            seen.settled += 1;
          },
        };
      }
    },
  };
  return { source, seen };
}

test('the source is not asked for more while as many elements are under way as allowed, and none is shed', async () => {
  const bed = await openBed();
  const { source, seen } = counting(Array.from({ length: 400 }, (_, n) => `Page ${n}.`));
  const summary = await bed.run({ source, input: { limits: { elements: 8 } } });
  expect(summary.outcomes.stored).toBe(400);
  expect(seen.settled).toBe(400);
  expect(seen.most).toBeGreaterThan(1);
  expect(seen.most).toBeLessThanOrEqual(8);
});

test('bytes under way are bounded, and a document over the bound goes alone', async () => {
  const bed = await openBed();
  const texts = Array.from({ length: 30 }, (_, n) =>
    n === 15 ? 'long '.repeat(2_000) : 'word '.repeat(100),
  );
  const { source, seen } = counting(texts);
  const summary = await bed.run({ source, input: { limits: { bytes: 4_000 } } });
  expect(summary.outcomes.stored).toBe(30);
  expect(seen.mostBytes).toBe(20_000);
});

test('a document with more chunks than allowed is a failed element that says what to do', async () => {
  const bed = await openBed();
  const log = logOf([
    document('long', 1, paragraphs(12).join('\n\n')),
    document('short', 1, paragraphs(3).join('\n\n')),
  ]);
  await bed.run({ source: log, input: { ...smallChunks, limits: { maxChunks: 10 } } });
  expect(outcomes(log)).toEqual(['failed', 'stored']);
  expect(await bed.failed()).toMatchObject([
    {
      documentId: 'long',
      stage: 'chunk',
      error: { code: 'item_too_large', hint: 'Split the document, or raise limits.maxChunks.' },
    },
  ]);
});
