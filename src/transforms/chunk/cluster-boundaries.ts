/**
 * The grapheme cluster boundaries of one text, exactly those of `Intl.Segmenter` run over the whole of it, found by
 * looking at a few characters around each position. Positions are UTF-16 code units.
 */
export interface ClusterBoundaries {
  has(at: number): boolean;
  /** The greatest boundary in [least, at]; -1 when there is none. */
  before(at: number, least: number): number;
  /** The smallest boundary in (at, limit]; -1 when there is none. */
  after(at: number, limit: number): number;
}

/** Characters that a cluster may hold between two others; a generous set, as a longer window is never wrong. */
const joiner = /[\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\u200c\u200d]/u;
/** Characters whose bond to the cluster before may depend on more than the one character before them. */
const contextual = /[\p{L}\p{Extended_Pictographic}]/u;

const longestKnown = 8;
const mostKnown = 10_000;

/**
 * Code units that are whole characters and never join another such one, CR LF apart: Latin, Greek and Cyrillic
 * letters, Han, kana, Hangul syllables, common punctuation.
 */
export function isPlain(unit: number): boolean {
  if (unit < 0x300) return true;
  if (unit < 0x2010) return (unit >= 0x370 && unit <= 0x482) || (unit >= 0x48a && unit <= 0x52f);
  if (unit < 0x3041) return unit <= 0x2027 || (unit >= 0x3000 && unit <= 0x3029);
  if (unit < 0x3400) return unit <= 0x3096 || (unit >= 0x30a1 && unit <= 0x30fa);
  if (unit <= 0x9fff) return true;
  return (unit >= 0xac00 && unit <= 0xd7a3) || (unit >= 0xff01 && unit <= 0xff9d);
}

export function clusterBoundaries(text: string): ClusterBoundaries {
  let segmenter: Intl.Segmenter | undefined;
  // Scripts that join their characters ask for the same few windows again and again.
  const known = new Map<string, boolean>();
  // The last run of regional indicators seen: flags pair from its start, however far back that is.
  let runStart = -1;
  let runSeen = -1;

  function indicatorsBefore(at: number): number {
    if (at >= runStart && at <= runSeen) return (at - runStart) / 2;
    let start = at;
    while (start >= 2 && isRegionalIndicator(text, start - 2)) {
      start -= 2;
      if (start === runSeen) {
        start = runStart;
        break;
      }
    }
    if (start < at) {
      runStart = start;
      runSeen = at;
    }
    return (at - start) / 2;
  }

  function has(at: number): boolean {
    if (at <= 0 || at >= text.length) return true;
    const left = text.charCodeAt(at - 1);
    const right = text.charCodeAt(at);
    if (isPlain(left) && isPlain(right)) return left !== 0x0d || right !== 0x0a;
    if (isLow(right) && isHigh(left)) return false;
    if (isRegionalIndicator(text, at)) {
      const before = indicatorsBefore(at);
      if (before > 0) return before % 2 === 0;
    }
    const next = String.fromCodePoint(text.codePointAt(at)!);
    let from = stepBack(text, at);
    // An Indic conjunct or an emoji joined by ZWJ is decided by the letter or emoji before the marks.
    if (contextual.test(next)) {
      while (from > 0 && joiner.test(String.fromCodePoint(text.codePointAt(from)!)))
        from = stepBack(text, from);
    }
    const window = text.slice(from, at + next.length);
    let boundary = known.get(window);
    if (boundary === undefined) {
      segmenter ??= new Intl.Segmenter('und', { granularity: 'grapheme' });
      boundary = segmenter.segment(window).containing(at - from)!.index === at - from;
      if (window.length <= longestKnown && known.size < mostKnown) known.set(window, boundary);
    }
    return boundary;
  }

  return {
    has,
    before(at, least) {
      for (let p = Math.min(at, text.length); p >= least; p -= 1) if (has(p)) return p;
      return -1;
    },
    after(at, limit) {
      for (let p = at + 1; p <= limit; p += 1) if (has(p)) return p;
      return -1;
    },
  };
}

/** `at`, or one less when that would part a surrogate pair. */
export function codePointFloor(text: string, at: number): number {
  const parts = at > 0 && isLow(text.charCodeAt(at)) && isHigh(text.charCodeAt(at - 1));
  return parts ? at - 1 : at;
}

function stepBack(text: string, at: number): number {
  return codePointFloor(text, at - 1);
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** U+1F1E6 to U+1F1FF, as a surrogate pair that begins at `at`. */
function isRegionalIndicator(text: string, at: number): boolean {
  if (text.charCodeAt(at) !== 0xd83c) return false;
  const low = text.charCodeAt(at + 1);
  return low >= 0xdde6 && low <= 0xddff;
}
