import type { TokenMeasure } from '../../contracts/token-measure.js';
import { bestStart, type BreakKind } from './best-break.js';
import { codePointFloor, type ClusterBoundaries } from './cluster-boundaries.js';
import type { Limits } from './limits.js';
import type { Passage } from './passage.js';
import { isBlank, isLineEnd, skipBlank } from './white-space.js';

/** What a chunker knows of its text: where passages end best, and what they are given beside their slice. */
export interface Cutter {
  /** The end of the passage that begins at `start`: a cluster boundary in [least, furthest]. */
  end(start: number, least: number, furthest: number): number;
  /** The earliest start of an overlap for a passage that takes up at `fresh` after one that ended at `end`. */
  overlapFloor(end: number, fresh: number): number;
  breakKind(at: number): BreakKind;
  /** Tokens kept free in a passage that begins at `start`. */
  reserved(start: number): number;
  /** What the passage that begins at `start` is given; `reserved(start)` tokens are counted with it. */
  extras(start: number): Pick<Passage, 'headings' | 'prefix'>;
}

/** A cluster that goes on so many code units beyond what a measure says fits is taken not to fit. */
const longestCluster = 64;

/**
 * Covers a text with passages, in order. All that is not blank is covered; starts and ends strictly increase; cuts are
 * at grapheme cluster boundaries; no passage is over `maxTokens`. Two exceptions, so that every text has an answer: a
 * cluster over the limit by itself is cut between code points, and a code point over the limit by itself is a passage of
 * its own.
 *
 * The overlap is at most the one asked for. It is shorter where a better start is near, and where the limit would leave
 * no room for anything new; the offsets of two neighbours tell the true one.
 */
export function cover(
  text: string,
  measure: TokenMeasure,
  limits: Limits,
  clusters: ClusterBoundaries,
  cutter: Cutter,
): Passage[] {
  const passages: Passage[] = [];
  let fresh = firstCluster(0);
  let start = fresh < text.length ? withIndent(fresh, 0, fresh) : fresh;
  while (fresh < text.length) {
    let end = trimmedEnd(fresh, chooseEnd(start, fresh));
    let tokens = tokensOf(start, end);
    // The part of a word before a cut may take more tokens than the whole word.
    while (tokens > limits.maxTokens) {
      let last = shorter(end, start, fresh);
      if (last <= fresh) {
        if (start === fresh) break;
        start = fresh;
        last = chooseEnd(start, fresh);
      }
      end = trimmedEnd(fresh, last);
      tokens = tokensOf(start, end);
    }
    passages.push({ start, end, tokens, ...cutter.extras(start) });
    fresh = firstCluster(end);
    if (fresh < text.length) start = nextStart(start, end, fresh);
  }
  return passages;

  function tokensOf(start: number, end: number): number {
    return measure.tokens(start, end) + cutter.reserved(start);
  }

  /** The next lower place for a cut above `fresh`, else `fresh`; within a cluster only in a passage that begins there. */
  function shorter(end: number, start: number, fresh: number): number {
    const boundary = clusters.before(end - 1, fresh + 1);
    if (boundary >= 0) return boundary;
    return start < fresh ? fresh : Math.max(fresh, codePointFloor(text, end - 1));
  }

  /** The cluster of the first character from `from` on that is not blank; a mark may make a space part of it. */
  function firstCluster(from: number): number {
    const at = skipBlank(text, from);
    if (at >= text.length) return text.length;
    const boundary = Math.max(from, clusters.before(at, from));
    return boundary === at || leavesRoom(boundary, boundary) ? boundary : at;
  }

  function furthestEnd(start: number): number {
    const budget = limits.maxTokens - cutter.reserved(start);
    return Math.min(text.length, Math.max(start, measure.fit(start, budget, text.length)));
  }

  function chooseEnd(start: number, fresh: number): number {
    const furthest = furthestEnd(start);
    const least = clusterEnd(start, fresh, furthest);
    if (least > furthest) return least;
    if (least >= 0) return cutter.end(start, least, furthest);
    const inside = codePointFloor(text, furthest);
    return inside > fresh ? inside : fresh + String.fromCodePoint(text.codePointAt(fresh)!).length;
  }

  /** The end of the cluster at `fresh` if a passage from `start`, which fits up to `furthest`, has room for it; else -1. */
  function clusterEnd(start: number, fresh: number, furthest: number): number {
    const end = clusters.after(fresh, furthest);
    if (end >= 0) return end;
    // Within a word a measure may stop short of what fits.
    const beyond = Math.max(fresh, furthest);
    const whole = clusters.after(beyond, Math.min(text.length, beyond + longestCluster));
    return whole >= 0 && tokensOf(start, whole) <= limits.maxTokens ? whole : -1;
  }

  function trimmedEnd(fresh: number, end: number): number {
    let trimmed = end;
    while (trimmed > fresh + 1 && isBlank(text.charCodeAt(trimmed - 1))) trimmed -= 1;
    const boundary = clusters.after(trimmed - 1, end);
    return boundary < 0 ? end : boundary;
  }

  /** `start`, or the start of its line when only white space is before it there, not before `from`, and it fits. */
  function withIndent(start: number, from: number, fresh: number): number {
    let line = start;
    while (line > from && isBlank(text.charCodeAt(line - 1)) && !isLineEnd(text.charCodeAt(line - 1)))
      line -= 1;
    if (line === start || (line > 0 && !isLineEnd(text.charCodeAt(line - 1)))) return start;
    return leavesRoom(line, fresh) ? line : start;
  }

  /** Whether a passage from `start` has room for the cluster at `fresh`. */
  function leavesRoom(start: number, fresh: number): boolean {
    return clusterEnd(start, fresh, furthestEnd(start)) >= 0;
  }

  function nextStart(start: number, end: number, fresh: number): number {
    const without = withIndent(fresh, end, fresh);
    if (limits.overlap === 0) return without;
    const least = clusters.after(fresh, furthestEnd(fresh));
    if (least < 0) return without;
    const fits = (at: number) => measure.tokens(at, end) <= limits.overlap && furthestEnd(at) >= least;
    const low = earliest(Math.max(start + 1, cutter.overlapFloor(end, fresh)), end, fits);
    if (low >= end) return without;
    const kind = cutter.breakKind(low);
    let best = bestStart(text, clusters, { low, high: end }, kind);
    if (best < 0 && kind === 'lines') best = bestStart(text, clusters, { low, high: end }, 'text');
    if (best >= 0 && fits(best)) return withIndent(best, low, fresh);
    const boundary = clusters.after(low - 1, end - 1);
    if (boundary < 0) return without;
    const cluster = firstCluster(boundary);
    return cluster < end && clusters.has(cluster) && fits(cluster) ? cluster : without;
  }
}

/** The least position in [low, high) from which on `holds` is true; `high` when there is none. */
function earliest(low: number, high: number, holds: (at: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
