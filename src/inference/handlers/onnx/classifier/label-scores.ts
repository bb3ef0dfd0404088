import type { Metadata } from '../../../../elements/metadata.js';
import type { LabelSettings } from './label-settings.js';

export interface LabelOptions {
  readonly threshold: number;
  /** All scores are given too. */
  readonly scores: boolean;
}

/**
 * What the logits of one text say: `{ label, score }`, for several labels also `labels` from the threshold on, best
 * first; for a number `{ value }`.
 */
export function labelScores(
  logits: Float32Array,
  { labels, kind }: LabelSettings,
  { threshold, scores }: LabelOptions,
): Metadata {
  if (kind === 'number') return { value: logits[0]! };
  const chances = kind === 'one' ? softmax(logits) : Array.from(logits, sigmoid);
  const ranked = labels
    .map((label, id) => ({ label, score: chances[id]! }))
    .sort((a, b) => b.score - a.score);
  const several = ranked.flatMap(({ label, score }) => (score >= threshold ? [label] : []));
  return {
    ...ranked[0]!,
    ...(kind === 'several' && { labels: several }),
    ...(scores && { scores: Object.fromEntries(ranked.map(({ label, score }) => [label, score])) }),
  };
}

/** https://en.wikipedia.org/wiki/Softmax_function, taken from the greatest so that nothing overflows. */
function softmax(logits: Float32Array): number[] {
  const greatest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const powers = Array.from(logits, (logit) => Math.exp(logit - greatest));
  const sum = powers.reduce((all, power) => all + power, 0);
  return powers.map((power) => power / sum);
}

function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
