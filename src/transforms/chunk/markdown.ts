import type { MeasureText } from '../../contracts/token-measure.js';
import { clusterBoundaries } from './cluster-boundaries.js';
import { cover } from './cover.js';
import { resolveLimits, type LimitOptions } from './limits.js';
import { headingPrefixes } from './markdown/heading-prefix.js';
import { outlineOf } from './markdown/outline.js';
import { sectionCutter } from './markdown/section-cutter.js';
import type { Passage } from './passage.js';

export interface MarkdownOptions extends LimitOptions {
  /**
   * Whether neighbouring sections under the same parent share a passage as long as they fit; sections of fewer than
   * `minTokens` are joined with the next whatever its parent. When false, each heading begins a passage. Default true.
   */
  readonly mergeSections?: boolean | undefined;
  /**
   * Whether each passage is given the titles above it as a `prefix` (`Guide > Install`, blank line) that is embedded
   * with it; it counts against `maxTokens` and takes at most a quarter of it. Default false.
   */
  readonly headingPrefix?: boolean | undefined;
}

/**
 * Splits a Markdown text by its structure: at headings, higher ones first, else between blocks, else within a block as
 * `splitRecursive` does. Fences, indented code and tables stay whole where they fit and are cut at line ends where they
 * do not. No overlap reaches over a heading. What else holds for the passages is said at `cover`.
 *
 * @throws {MillraceError} `config_invalid` for sizes that cannot be.
 */
export function splitMarkdown(text: string, measure: MeasureText, options: MarkdownOptions = {}): Passage[] {
  const limits = resolveLimits(options);
  const outline = outlineOf(text);
  const clusters = clusterBoundaries(text);
  const tokens = measure(text);
  const prefixAt =
    options.headingPrefix === true ? headingPrefixes(text, measure, outline, limits.maxTokens) : undefined;
  let heading = -1;
  let path: readonly string[] = [];
  /** Passages under one heading share one list. */
  const pathOf = (of: number) => {
    if (of !== heading) path = outline.path((heading = of));
    return path;
  };
  return cover(text, tokens, limits, clusters, {
    ...sectionCutter(text, tokens, clusters, outline, {
      limits,
      mergeSections: options.mergeSections ?? true,
      reserved: (start) => prefixAt?.(start).tokens ?? 0,
    }),
    extras(start) {
      const headings = pathOf(outline.headingOf(outline.blockAt(start)));
      const prefix = prefixAt?.(start).text ?? '';
      return prefix === '' ? { headings } : { headings, prefix };
    },
  });
}
