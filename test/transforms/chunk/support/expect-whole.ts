import { expect } from 'vitest';
import type { MeasureText } from '../../../../src/contracts/token-measure.js';
import type { Passage } from '../../../../src/transforms/chunk/passage.js';

interface Limits {
  readonly maxTokens: number;
  readonly overlap?: number | undefined;
}

/** Checks all that P9 promises of the passages of a text, against `Intl.Segmenter` run over the whole of it. */
export function expectWhole(
  text: string,
  passages: readonly Passage[],
  measure: MeasureText,
  limits: Limits,
): void {
  expect([...faults(text, passages, measure, limits)]).toEqual([]);
}

function* faults(
  text: string,
  passages: readonly Passage[],
  measureText: MeasureText,
  limits: Limits,
): Generator<string> {
  const measure = measureText(text);
  const clusters = clusterStarts(text);
  const covered = new Uint8Array(text.length);
  let before: Passage | undefined;
  for (const passage of passages) {
    const { start, end, tokens, prefix } = passage;
    const name = `[${start}, ${end})`;
    const slice = text.slice(start, end);
    const prefixTokens = prefix === undefined ? 0 : measureText(prefix).tokens(0, prefix.length);
    if (start <= (before?.start ?? -1)) yield `${name} starts no later than the one before`;
    if (end <= (before?.end ?? 0) || end > text.length) yield `${name} ends wrongly`;
    if (slice.trim() === '') yield `${name} is blank`;
    if (tokens !== measure.tokens(start, end) + prefixTokens) yield `${name} counts ${tokens} tokens`;
    if (tokens > limits.maxTokens && [...slice].length > 1) yield `${name} has ${tokens} tokens`;
    for (const cut of [start, end]) {
      if (/^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(cut - 1, cut + 1)))
        yield `surrogates parted at ${cut}`;
      const cluster = clusters[cut]!;
      const whole = measure.tokens(cluster, nextCluster(clusters, cut)) + prefixTokens;
      if (cluster !== cut && whole <= limits.maxTokens) yield `cluster of ${whole} tokens cut at ${cut}`;
    }
    if (before !== undefined && start < before.end) {
      const overlap = measure.tokens(start, before.end);
      if (overlap > (limits.overlap ?? 0)) yield `${name} overlaps by ${overlap} tokens`;
    }
    covered.fill(1, start, end);
    before = passage;
  }
  for (let at = 0; at < text.length; at += 1) {
    if (covered[at] === 0 && text[at]!.trim() !== '') yield `position ${at} is in no passage`;
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
