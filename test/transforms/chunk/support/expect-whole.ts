import { expect } from 'vitest';
import type { MeasureText } from '../../../../src/contracts/token-measure.js';
import type { Passage } from '../../../../src/transforms/chunk/passage.js';

/** Checks all that P9 promises of the passages of a text, against `Intl.Segmenter` run over the whole of it. */
export function expectWhole(
  text: string,
  passages: readonly Passage[],
  measureText: MeasureText,
  limits: { readonly maxTokens: number; readonly overlap?: number | undefined },
): void {
  const measure = measureText(text);
  const clusters = clusterStarts(text);
  const covered = new Uint8Array(text.length);
  let before: Passage | undefined;
  for (const passage of passages) {
    const { start, end, tokens } = passage;
    const slice = text.slice(start, end);
    const prefixTokens =
      passage.prefix === undefined ? 0 : measureText(passage.prefix).tokens(0, passage.prefix.length);
    expect(start).toBeGreaterThan(before?.start ?? -1);
    expect(end).toBeGreaterThan(before?.end ?? 0);
    expect(end).toBeLessThanOrEqual(text.length);
    expect(slice.trim()).not.toBe('');
    expect(tokens).toBe(measure.tokens(start, end) + prefixTokens);
    if ([...slice].length > 1) expect(tokens).toBeLessThanOrEqual(limits.maxTokens);
    for (const cut of [start, end]) {
      expect(partsSurrogates(text, cut)).toBe(false);
      if (clusters[cut] !== cut) {
        const from = clusters[cut]!;
        const whole = measure.tokens(from, nextCluster(clusters, cut)) + prefixTokens;
        expect(whole, `cluster cut at ${cut}`).toBeGreaterThan(limits.maxTokens);
      }
    }
    if (before !== undefined && start < before.end) {
      expect(measure.tokens(start, before.end)).toBeLessThanOrEqual(limits.overlap ?? 0);
    }
    covered.fill(1, start, end);
    before = passage;
  }
  for (let at = 0; at < text.length; at += 1) {
    if (covered[at] === 0) expect(text[at]!.trim(), `lost at ${at}`).toBe('');
  }
}

/** For each position the start of the cluster that it lies in, the position itself when it is a boundary. */
function clusterStarts(text: string): Int32Array {
  const starts = new Int32Array(text.length + 1);
  for (const { index, segment } of new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text)) {
    starts.fill(index, index, index + segment.length);
  }
  starts[text.length] = text.length;
  return starts;
}

function nextCluster(starts: Int32Array, at: number): number {
  let next = at;
  while (starts[next] !== next) next += 1;
  return next;
}

function partsSurrogates(text: string, at: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1));
}
