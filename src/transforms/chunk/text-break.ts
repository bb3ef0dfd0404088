import { isBlank, isLineEnd } from './white-space.js';

/** How good a place is for the end of a passage; greater is better. */
export const textBreak = {
  none: 0,
  word: 1,
  clause: 2,
  /** A line break inside a sentence, as in text wrapped at 80 columns. */
  wrap: 3,
  sentence: 4,
  line: 5,
  blankLine: 6,
} as const;

export type TextBreak = (typeof textBreak)[keyof typeof textBreak];

/** White space further on than this is not read: such a run parts the text like a blank line. */
const longestGap = 256;
const sentenceMark = /[\p{Sentence_Terminal}\u0f0d-\u0f12\u0e5a\u0e5b\u2026\u037e]/u;
const clauseMark = /[\p{Terminal_Punctuation}\u2013\u2014]/u;
const closing = /[\p{Pe}\p{Pf}"'*_`\u201c\u2018]/u;
const lowerCase = /\p{Ll}/u;
const letter = /[\p{L}\p{M}]/u;

/**
 * The break between `text[end - 1]` and what follows, for `0 < end < text.length`. A break is told where the text
 * before it ends: at `end` white space begins, or `text[end - 1]` is a mark that needs none (Han, Devanagari, ...).
 */
export function breakAt(text: string, end: number): TextBreak {
  const after = text.charCodeAt(end);
  const before = text.charCodeAt(end - 1);
  if (!isBlank(after)) return isUnspaced(before) ? unspacedBreak(text, end, before) : textBreak.none;
  if (isBlank(before)) return textBreak.none;
  let next = end;
  let lines = 0;
  for (let unit = after; isBlank(unit); unit = text.charCodeAt(next)) {
    if (isLineEnd(unit) && !(unit === 0x0d && text.charCodeAt(next + 1) === 0x0a)) lines += 1;
    next += 1;
    if (lines === 2 || next - end > longestGap) return textBreak.blankLine;
  }
  const sentence = endsSentence(text, end, next);
  if (lines === 1) {
    return sentence || !lowerCase.test(text.charAt(next)) ? textBreak.line : textBreak.wrap;
  }
  if (sentence) return textBreak.sentence;
  return isClauseMark(before) ? textBreak.clause : textBreak.word;
}

/** Whether a mark of this kind may end a sentence with no space after it; rules out the letters of Han and the like. */
function isUnspaced(unit: number): boolean {
  if (unit < 0x0530) return false;
  return unit < 0x3040 || (unit > 0x9fff && !(unit >= 0xac00 && unit <= 0xdbff));
}

function unspacedBreak(text: string, end: number, before: number): TextBreak {
  if (before === 0x200b) return textBreak.word;
  const mark = characterBefore(text, end);
  const isClosing = closing.test(mark);
  if (!isClosing && !clauseMark.test(mark) && !sentenceMark.test(mark)) return textBreak.none;
  // A quotation mark or a second mark stays with the full stop before it.
  if (isMark(text, end)) return textBreak.none;
  if (sentenceMark.test(mark)) return textBreak.sentence;
  if (!isClosing) return textBreak.clause;
  return before > 0x2fff && sentenceMark.test(characterBefore(text, end - mark.length))
    ? textBreak.sentence
    : textBreak.none;
}

function isMark(text: string, at: number): boolean {
  const mark = String.fromCodePoint(text.codePointAt(at)!);
  return closing.test(mark) || sentenceMark.test(mark) || clauseMark.test(mark);
}

function endsSentence(text: string, end: number, next: number): boolean {
  let mark = characterBefore(text, end);
  for (let closings = 0; closings < 4 && mark !== '' && closing.test(mark); closings += 1) {
    end -= mark.length;
    mark = characterBefore(text, end);
  }
  if (mark === '' || !sentenceMark.test(mark)) return false;
  if (mark !== '.' && mark !== '\u2026') return true;
  if (lowerCase.test(text.charAt(next))) return false;
  const last = characterBefore(text, end - 1);
  const lastButOne = characterBefore(text, end - 1 - last.length);
  // An initial ("J. Smith") and the number of a list item ("12. Rinse") end no sentence.
  if (letter.test(last)) return letter.test(lastButOne);
  return !isItemNumber(text, end - 1);
}

function isItemNumber(text: string, dot: number): boolean {
  let at = dot;
  while (at > 0 && dot - at < 10 && text.charCodeAt(at - 1) >= 0x30 && text.charCodeAt(at - 1) <= 0x39)
    at -= 1;
  if (at === dot) return false;
  while (at > 0 && dot - at < 20 && text.charCodeAt(at - 1) === 0x20) at -= 1;
  return at === 0 || isLineEnd(text.charCodeAt(at - 1));
}

function isClauseMark(unit: number): boolean {
  if (unit < 0x80) return unit === 0x2c || unit === 0x3b || unit === 0x3a || unit === 0x29;
  return clauseMark.test(String.fromCharCode(unit));
}

/** The character that ends at `end`, or the empty string. */
function characterBefore(text: string, end: number): string {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && end > 1
    ? text.slice(end - 2, end)
    : text.slice(Math.max(0, end - 1), end);
}
