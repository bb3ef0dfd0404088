import type { ClusterBoundaries } from './cluster-boundaries.js';
import { breakAt, textBreak, type TextBreak } from './text-break.js';
import { isBlank, skipBlank } from './white-space.js';

/**
 * What a break is worth, as the share of a passage that may be given up to end at it. Full passages find more, so the
 * differences are small: the end of a sentence is taken before that of a mere word in the last third of a passage only.
 */
export const breakWorth: Readonly<Record<TextBreak, number>> = {
  [textBreak.none]: 0,
  [textBreak.word]: 0.1,
  [textBreak.clause]: 0.15,
  [textBreak.wrap]: 0.18,
  [textBreak.sentence]: 0.4,
  [textBreak.line]: 0.45,
  [textBreak.blankLine]: 0.55,
};

/** Which breaks count: all of them, or line ends only (code, tables). */
export type BreakKind = 'text' | 'lines';

export interface ScoredEnd {
  /** -1 when the window holds no break. */
  readonly end: number;
  /** Fill of the passage, up to 1, plus the worth of the break. */
  readonly score: number;
}

/**
 * The best end of a passage from `start` within [low, high]: the nearer to `furthest` and the stronger its break, the
 * better. Reads the window backwards and stops where nothing better can follow.
 */
export function bestEnd(
  text: string,
  clusters: ClusterBoundaries,
  window: { start: number; low: number; high: number; furthest: number },
  kind: BreakKind,
): ScoredEnd {
  const { start, low, high, furthest } = window;
  const share = 1 / (furthest - start);
  let best = -1;
  let bestScore = 0;
  for (let end = Math.min(high, text.length - 1); end >= low; end -= 1) {
    const fill = (end - start) * share;
    if (fill + breakWorth[textBreak.blankLine] <= bestScore) break;
    const found = counted(breakAt(text, end), kind);
    const score = fill + breakWorth[found];
    if (found !== textBreak.none && score > bestScore && clusters.has(end)) {
      best = end;
      bestScore = score;
    }
  }
  return { end: best, score: bestScore };
}

/**
 * The best start within [low, high) of a passage that repeats the end of the one before: the longer the overlap and
 * the stronger the break before it, the better. -1 when there is no break; a start is never blank.
 */
export function bestStart(
  text: string,
  clusters: ClusterBoundaries,
  window: { low: number; high: number },
  kind: BreakKind,
): number {
  const { low, high } = window;
  const share = 1 / (high - low);
  let best = -1;
  let bestScore = 0;
  let end = low;
  // The window may begin inside white space, whose break is told where it begins.
  while (end > 0 && low - end < 8 && isBlank(text.charCodeAt(end - 1))) end -= 1;
  for (; end < high; end += 1) {
    if ((high - end) * share + breakWorth[textBreak.blankLine] <= bestScore) break;
    const found = end === 0 ? textBreak.none : counted(breakAt(text, end), kind);
    if (found === textBreak.none) continue;
    const start = skipBlank(text, end);
    if (start < low || start >= high) continue;
    const score = (high - start) * share + breakWorth[found];
    if (score > bestScore && clusters.has(start)) {
      best = start;
      bestScore = score;
    }
  }
  return best;
}

function counted(found: TextBreak, kind: BreakKind): TextBreak {
  if (kind === 'text') return found;
  if (found === textBreak.wrap) return textBreak.line;
  return found === textBreak.line || found === textBreak.blankLine ? found : textBreak.none;
}
