import { codePointSet } from './code-point-set.js';
import { nonspacingMarks, punctuationMarks, removedCharacters } from './reference-categories.js';

/** The settings of a `BertNormalizer`. */
export interface BertNormalization {
  readonly cleanText: boolean;
  readonly handleChineseChars: boolean;
  readonly stripAccents: boolean;
  readonly lowercase: boolean;
}

/** What a UTF-16 code unit is to the scanner. */
export const unitClass = {
  /** Part of a run that is looked at as a whole. */
  word: 1,
  /** Separates, and leaves no token. */
  space: 2,
  /** A word by itself, whatever is around it. */
  alone: 3,
} as const;

/** What a BERT tokenizer makes of single characters. */
export interface BertCharacters {
  /** The class of each code unit, or 0 where it is not known yet: ask `classify`. */
  readonly classes: Uint8Array;
  /** Computes the class of a unit and notes it in `classes`. Surrogates are always `word`. */
  classify(unit: number): number;
  /** What the normalizer puts in place of a code point: nothing, itself, its base letter, itself between blanks. */
  normalized(codePoint: number): string;
  /** Whether the pre-tokenizer makes a word of this one (normalized) code point. */
  isPunctuation(codePoint: number): boolean;
  isSpace(codePoint: number): boolean;
}

/**
 * The reference normalizes the whole text first. Its steps look at one code point at a time (canonical reordering of
 * marks aside, which `strip_accents` drops), so each code point can be normalized alone, and offsets come for free.
 */
export function createBertCharacters(options: BertNormalization): BertCharacters {
  const isRemoved = codePointSet(removedCharacters);
  const isMark = codePointSet(nonspacingMarks);
  const isRarePunctuation = codePointSet(punctuationMarks);
  const classes = new Uint8Array(1 << 16);
  const memo = new Map<number, string>();

  const isSpace = (codePoint: number) =>
    codePoint < 128
      ? codePoint === 32 || (codePoint >= 9 && codePoint <= 13)
      : /^\p{White_Space}$/u.test(String.fromCodePoint(codePoint));
  const isPunctuation = (codePoint: number) =>
    codePoint < 128 ? isAsciiPunctuation(codePoint) : isRarePunctuation(codePoint);

  function normalize(codePoint: number): string {
    let text = String.fromCodePoint(codePoint);
    if (options.cleanText) {
      if (isRemoved(codePoint)) return '';
      if (isSpace(codePoint)) return ' ';
    }
    const chinese = options.handleChineseChars && isChinese(codePoint);
    if (options.stripAccents)
      text = [...text.normalize('NFD')].filter((part) => !isMark(part.codePointAt(0)!)).join('');
    // One character at a time, so that a sigma is never a final one: the reference lowers without context.
    if (options.lowercase) text = Array.from(text, (part) => part.toLowerCase()).join('');
    return chinese ? ` ${text} ` : text;
  }

  function normalized(codePoint: number): string {
    let text = memo.get(codePoint);
    if (text === undefined) memo.set(codePoint, (text = normalize(codePoint)));
    return text;
  }

  function classOf(unit: number): number {
    if (unit >= 0xd800 && unit < 0xe000) return unitClass.word;
    const parts = Array.from(normalized(unit), (part) => part.codePointAt(0)!);
    if (parts.length === 0) return unitClass.word;
    if (parts.every(isSpace)) return unitClass.space;
    const stands = (codePoint: number) => isSpace(codePoint) || isPunctuation(codePoint);
    return stands(parts[0]!) && stands(parts.at(-1)!) ? unitClass.alone : unitClass.word;
  }

  return {
    classes,
    classify: (unit) => (classes[unit] = classOf(unit)),
    normalized,
    isPunctuation,
    isSpace,
  };
}

function isAsciiPunctuation(code: number): boolean {
  return (
    (code >= 33 && code <= 47) ||
    (code >= 58 && code <= 64) ||
    (code >= 91 && code <= 96) ||
    (code >= 123 && code <= 126)
  );
}

/** The blocks that `handle_chinese_chars` names. */
function isChinese(code: number): boolean {
  return (
    (code >= 0x4e00 && code <= 0x9fff) ||
    (code >= 0x3400 && code <= 0x4dbf) ||
    (code >= 0x20000 && code <= 0x2a6df) ||
    (code >= 0x2a700 && code <= 0x2b73f) ||
    (code >= 0x2b740 && code <= 0x2b81f) ||
    (code >= 0x2b920 && code <= 0x2ceaf) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0x2f800 && code <= 0x2fa1f)
  );
}
