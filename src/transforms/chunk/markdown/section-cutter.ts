import type { TokenMeasure } from '../../../contracts/token-measure.js';
import { bestEnd, type BreakKind, type ScoredEnd } from '../best-break.js';
import type { ClusterBoundaries } from '../cluster-boundaries.js';
import type { Cutter } from '../cover.js';
import type { Limits } from '../limits.js';
import { isLineEnd } from '../white-space.js';
import type { Block } from './block.js';
import { blockWorth } from './block-worth.js';
import type { Outline } from './outline.js';

export interface SectionRules {
  readonly limits: Limits;
  /** Whether neighbouring sections may share a passage. */
  readonly mergeSections: boolean;
  /** Tokens kept free in a passage that begins at a position. */
  reserved(start: number): number;
}

/**
 * Ends passages by the structure of a Markdown text: before a heading, else between blocks, else within a block. A
 * passage takes in whole sections as long as they fit and hang under the same parent. It ends in a heading, and parts a
 * fence, code or table that would fit by itself, only if it cannot be helped.
 */
export function sectionCutter(
  text: string,
  measure: TokenMeasure,
  clusters: ClusterBoundaries,
  outline: Outline,
  { limits, mergeSections, reserved }: SectionRules,
): Omit<Cutter, 'extras'> {
  const { blocks } = outline;

  function end(start: number, least: number, furthest: number): number {
    const first = Math.max(0, outline.blockAt(start));
    const ready = Math.min(furthest, measure.fit(start, Math.max(0, limits.minTokens - 1), furthest) + 1);
    const share = 1 / Math.max(1, furthest - start);
    let level = blocks[outline.headingOf(first)]?.level ?? 0;
    let best: ScoredEnd = { end: -1, score: 0 };
    let afterHeading = -1;
    let next = first;
    while (blocks[next]!.end <= furthest) {
      next += 1;
      if (next === blocks.length) return text.length;
      const cut = blocks[next - 1]!.end;
      if (cut < least) continue;
      if (blocks[next - 1]!.kind === 'heading') {
        afterHeading = cut;
        continue;
      }
      if (blocks[next]!.kind === 'heading') {
        if (!mergeSections) return cut;
        if (blocks[next]!.level < level) {
          if (cut >= ready && !endsSoon(next)) return cut;
          level = blocks[next]!.level;
        }
        if (cut < ready) {
          // Too little for a passage, unless what follows must not be parted.
          if (best.end < 0) best = { end: cut, score: (cut - start) * share };
          continue;
        }
      }
      const score = (cut - start) * share + blockWorth(blocks[next]!);
      if (score >= best.score) best = { end: cut, score };
    }
    return within(blocks[next]!, { start, least, ready, furthest }, best, afterHeading);
  }

  /** Where the passage ends when `block` is the first that does not fit whole. */
  function within(
    block: Block,
    { start, least, ready, furthest }: { start: number; least: number; ready: number; furthest: number },
    before: ScoredEnd,
    afterHeading: number,
  ): number {
    const kind = kindOf(block);
    const whole = kind === 'lines' && start <= block.start && fits(block);
    if (whole && before.end >= 0) return before.end;
    const window = { start, low: Math.max(least, block.start + 1), high: furthest, furthest };
    if (kind === 'lines') {
      const bodyLow = start > block.start ? window.low : Math.max(window.low, bodyStart(block, furthest));
      const rows = bestEnd(text, clusters, { ...window, low: bodyLow }, kind);
      if (rows.score > before.score) return rows.end;
      if (before.end >= 0) return before.end;
      if (whole && afterHeading >= 0) return afterHeading;
      const anyRow = bestEnd(text, clusters, window, kind);
      if (anyRow.end >= 0) return anyRow.end;
    }
    const inside = bestEnd(text, clusters, { ...window, low: Math.max(window.low, ready) }, 'text');
    const better = inside.score > before.score ? inside : before;
    return better.end >= 0 ? better.end : clusters.before(furthest, least);
  }

  /** Whether what is left from a block on is too short for a passage of its own. */
  function endsSoon(block: number): boolean {
    return measure.tokens(blocks[block]!.start, text.length) < limits.minTokens;
  }

  function fits(block: Block): boolean {
    return measure.tokens(block.start, block.end) <= limits.maxTokens - reserved(block.start);
  }

  /** Past the first lines of code or of a table, which say nothing by themselves: opening or header, and one row. */
  function bodyStart(block: Block, furthest: number): number {
    let lines = block.kind === 'table' ? 3 : 2;
    let at = block.start;
    for (; at < Math.min(block.end, furthest); at += 1) {
      if (!isLineEnd(text.charCodeAt(at))) continue;
      lines -= 1;
      if (lines === 0) break;
      if (text.startsWith('\r\n', at)) at += 1;
    }
    return at;
  }

  return {
    end,
    reserved,
    overlapFloor(ended, fresh) {
      if (blocks[outline.blockAt(fresh)]?.kind === 'heading') return ended;
      return blocks[outline.headingOf(outline.blockAt(ended - 1))]?.start ?? 0;
    },
    breakKind(at) {
      const block = blocks[outline.blockAt(at)];
      // An overlap takes a heading with its mark or not at all.
      return block?.kind === 'heading' ? 'lines' : kindOf(block);
    },
  };
}

function kindOf(block: Block | undefined): BreakKind {
  return block?.kind === 'fence' || block?.kind === 'table' || block?.kind === 'code' ? 'lines' : 'text';
}
