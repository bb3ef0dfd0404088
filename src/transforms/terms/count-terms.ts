import { termSpace, type Terms } from '../../elements/terms.js';

/** Changes whenever a text would get other terms: stores remember it. */
export const termRule = 'words-1';

/** Scripts that put no space between words. */
const unspaced =
  '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
const runs = new RegExp(`[${unspaced}\\u30fc]+|(?:(?![${unspaced}])[\\p{L}\\p{M}\\p{N}])+`, 'gu');
const startsUnspaced = new RegExp(`^[${unspaced}]`, 'u');

// FNV-1a, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/
const offset = 0x811c9dc5;
const prime = 0x01000193;

/**
 * The terms of a text: words are runs of letters, marks and digits after NFKC, in lower case; where a script puts no space
 * between words, each two characters that follow each other are one, and a character that stands alone. No stemming and
 * no stop words, so that no language is favoured. A term is a hash of its word: of 100,000 words one in 10,000 shares its number with another.
 */
export function countTerms(text: string): Terms {
  const found: number[] = [];
  if (isAscii(text)) asciiTerms(text, found);
  else for (const [run] of text.normalize('NFKC').toLowerCase().matchAll(runs)) runTerms(run, found);
  return counted(Int32Array.from(found).sort());
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** The same as by the expression, some ten times as fast. */
function asciiTerms(text: string, found: number[]): void {
  let hash = offset;
  let inside = false;
  for (let at = 0; at <= text.length; at += 1) {
    const unit = at < text.length ? lowerAlphanumeric[text.charCodeAt(at)]! : 0;
    if (unit !== 0) {
      hash = Math.imul(hash ^ unit, prime);
      inside = true;
    } else if (inside) {
      found.push(termId(hash));
      hash = offset;
      inside = false;
    }
  }
}

/** By character code: its lower case, 0 for what is in no word. */
const lowerAlphanumeric = Uint8Array.from({ length: 128 }, (_, code) =>
  /[a-z0-9]/i.test(String.fromCharCode(code)) ? String.fromCharCode(code).toLowerCase().charCodeAt(0) : 0,
);

function runTerms(run: string, found: number[]): void {
  if (!startsUnspaced.test(run)) {
    found.push(hashed(run));
    return;
  }
  const characters = [...run];
  if (characters.length === 1) found.push(hashed(run));
  for (let at = 1; at < characters.length; at += 1) found.push(hashed(characters[at - 1]! + characters[at]!));
}

function hashed(word: string): number {
  let hash = offset;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), prime);
  return termId(hash);
}

/** Spreads the bits, since similar words have similar hashes: the end of MurmurHash3. */
function termId(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % termSpace;
}

function counted(sorted: Int32Array): Terms {
  const ids = new Int32Array(sorted.length);
  const counts = new Int32Array(sorted.length);
  let length = 0;
  for (let at = 0; at < sorted.length; at += 1) {
    if (at === 0 || sorted[at] !== sorted[at - 1]) ids[length++] = sorted[at]!;
    counts[length - 1]! += 1;
  }
  return { ids: ids.slice(0, length), counts: counts.slice(0, length) };
}
