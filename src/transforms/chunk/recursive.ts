import type { MeasureText } from '../../contracts/token-measure.js';
import { bestEnd } from './best-break.js';
import { clusterBoundaries, type ClusterBoundaries } from './cluster-boundaries.js';
import { cover } from './cover.js';
import { resolveLimits, type LimitOptions } from './limits.js';
import type { Passage } from './passage.js';
import { separatorFinder, type FindSeparator, type Separator } from './separator.js';

export interface RecursiveOptions extends LimitOptions {
  /**
   * What to break after, best first, in place of the built-in breaks (blank line, line end, sentence, clause, word).
   * Each is looked for in the part of the passage beyond `minTokens`; where none is found, cuts are between characters.
   */
  readonly separators?: readonly Separator[] | undefined;
}

/**
 * Splits any text by length in tokens, at the best break near the end of each full passage: a blank line, a line end,
 * the end of a sentence or clause in any script, a space, else between two grapheme clusters.
 * What holds for the passages is said at `cover`.
 *
 * @throws {MillraceError} `config_invalid` for sizes or separators that cannot be.
 */
export function splitRecursive(
  text: string,
  measure: MeasureText,
  options: RecursiveOptions = {},
): Passage[] {
  const limits = resolveLimits(options);
  const separators = options.separators?.map(separatorFinder);
  const clusters = clusterBoundaries(text);
  const tokens = measure(text);
  return cover(text, tokens, limits, clusters, {
    end(start, least, furthest) {
      if (furthest >= text.length) return text.length;
      const low = Math.max(least, Math.min(furthest, tokens.fit(start, limits.minTokens, furthest)));
      const end =
        separators === undefined
          ? bestEnd(text, clusters, { start, low, high: furthest, furthest }, 'text').end
          : firstFound(separators, text, clusters, low, furthest);
      return end >= 0 ? end : clusters.before(furthest, least);
    },
    overlapFloor: () => 0,
    breakKind: () => 'text',
    reserved: () => 0,
    extras: () => ({}),
  });
}

function firstFound(
  separators: readonly FindSeparator[],
  text: string,
  clusters: ClusterBoundaries,
  low: number,
  high: number,
): number {
  for (const find of separators) {
    const end = find(text, clusters, low, high);
    if (end >= 0) return end;
  }
  return -1;
}
