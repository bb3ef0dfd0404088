import { MillraceError } from '../../errors/millrace-error.js';
import type { ClusterBoundaries } from './cluster-boundaries.js';

/** Text to break after: literally, or as a regular expression (in a configuration file: its source and flags). */
export type Separator = string | RegExp | { readonly pattern: string; readonly flags?: string | undefined };

/** The last place in [low, high] at which a separator ends (or begins, if it runs on beyond `high`); -1: none. */
export type FindSeparator = (text: string, clusters: ClusterBoundaries, low: number, high: number) => number;

/** An expression sees this many code units beyond its window on both sides. */
const margin = 64;

/** @throws {MillraceError} `config_invalid` for an empty separator or a pattern that does not compile. */
export function separatorFinder(separator: Separator): FindSeparator {
  if (separator === '') throw new MillraceError('config_invalid', 'a separator must not be empty');
  return typeof separator === 'string' ? findLiteral(separator) : findPattern(compile(separator));
}

function findLiteral(separator: string): FindSeparator {
  return (text, clusters, low, high) => {
    const base = Math.max(0, low - separator.length);
    const view = text.slice(base, high + separator.length);
    for (
      let at = view.lastIndexOf(separator);
      at >= 0;
      at = at === 0 ? -1 : view.lastIndexOf(separator, at - 1)
    ) {
      const cut = cutAt(base + at, base + at + separator.length, low, high);
      if (cut >= 0 && clusters.has(cut)) return cut;
    }
    return -1;
  };
}

function findPattern(pattern: RegExp): FindSeparator {
  return (text, clusters, low, high) => {
    const base = Math.max(0, low - margin);
    const view = text.slice(base, high + margin);
    let last = -1;
    for (const match of view.matchAll(pattern)) {
      const cut = cutAt(base + match.index, base + match.index + match[0].length, low, high);
      if (cut >= 0 && clusters.has(cut)) last = cut;
    }
    return last;
  };
}

function cutAt(start: number, end: number, low: number, high: number): number {
  if (end >= low && end <= high) return end;
  return end > high && start >= low && start <= high ? start : -1;
}

function compile(
  separator: RegExp | { readonly pattern: string; readonly flags?: string | undefined },
): RegExp {
  const source = separator instanceof RegExp ? separator.source : separator.pattern;
  const flags = (separator.flags ?? '').replace(/[gy]/g, '');
  try {
    return new RegExp(source, `${flags}g`);
  } catch (cause) {
    throw new MillraceError('config_invalid', `the separator ${source} is not a regular expression`, {
      cause,
    });
  }
}
