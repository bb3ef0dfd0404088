import { TokenBuffer } from '../token-buffer.js';
import { tokenKind, type Tokenizer } from '../tokenizer.js';
import { createBertCharacters, unitClass, type BertNormalization } from './characters.js';
import { createWordPiece, type WordPieceVocabulary } from './word-piece.js';
import { createWordSplitter } from './word-splitter.js';
import { WordTable } from './word-table.js';

export interface BertTokenizerOptions extends WordPieceVocabulary {
  readonly unknownId: number;
  /** Longest word that is split, in code points; a longer one is unknown. */
  readonly maxWordCharacters: number;
  readonly normalization: BertNormalization;
}

/** Words remembered with their tokens. */
const cachedWords = 1 << 16;
/** Longer runs are split afresh each time: they hardly ever come again. */
const longestCachedWord = 64;

/**
 * BertNormalizer, BertPreTokenizer and WordPiece in one pass over the text: it is cut into runs of word characters, and a
 * run that was seen before costs one look-up. Ids equal those of the reference (Rust `tokenizers`) that knows no added
 * tokens; time is linear in the text, whatever it holds.
 */
export function createBertTokenizer(options: BertTokenizerOptions): Tokenizer {
  const { ids, unknownId, maxWordCharacters } = options;
  const characters = createBertCharacters(options.normalization);
  const splitter = createWordSplitter(characters, createWordPiece(options), unknownId, maxWordCharacters);
  const { classes } = characters;
  const buffer = new TokenBuffer();
  const table = new WordTable(cachedWords);
  /**
   * Tokens of the cached runs that are not exactly one token, run after run: how many numbers follow, then
   * [id, start, end, kind] each, offsets in the run. One array for all: an object a run would fill the heap.
   */
  let splits = new Int32Array(1 << 12);
  let used = 0;

  function remember(tokens: Int32Array): number {
    const at = used;
    used += tokens.length + 1;
    if (used > splits.length) {
      const longer = new Int32Array(Math.max(used, splits.length * 2));
      longer.set(splits);
      splits = longer;
    }
    splits[at] = tokens.length;
    splits.set(tokens, at + 1);
    return at;
  }

  /** What the table holds for a run: 2 * id when it is one token, or 2 * its place in `splits` + 1. */
  function learn(text: string, start: number, end: number, hash: number): number {
    const tokens = splitter.split(text.slice(start, end));
    const [id, from, to, kind] = tokens;
    const simple = tokens.length === 4 && from === 0 && to === end - start && kind === tokenKind.head;
    if (table.full(end - start)) {
      table.clear();
      used = 0;
    }
    const value = simple ? id! * 2 : remember(tokens) * 2 + 1;
    table.add(text, start, end, hash, value);
    return value;
  }

  function pushSplit(tokens: Int32Array, from: number, to: number, offset: number) {
    for (let at = from; at < to; at += 4)
      buffer.push(tokens[at]!, offset + tokens[at + 1]!, offset + tokens[at + 2]!, tokens[at + 3]!);
  }

  function scan(text: string): void {
    const { length } = text;
    for (let at = 0; at < length;) {
      let unit = text.charCodeAt(at);
      let kind = classes[unit]! || characters.classify(unit);
      if (kind === unitClass.space) {
        at++;
        continue;
      }
      const start = at;
      let hash = unit;
      at++;
      if (kind === unitClass.word)
        while (at < length) {
          unit = text.charCodeAt(at);
          kind = classes[unit]! || characters.classify(unit);
          if (kind !== unitClass.word) break;
          hash = (Math.imul(hash, 0x01000193) ^ unit) | 0;
          at++;
        }
      if (at - start > longestCachedWord) {
        const tokens = splitter.split(text.slice(start, at));
        pushSplit(tokens, 0, tokens.length, start);
        continue;
      }
      let value = table.get(text, start, at, hash);
      if (value === -1) value = learn(text, start, at, hash);
      if ((value & 1) === 0) buffer.push(value >> 1, start, at, tokenKind.head);
      else pushSplit(splits, (value >> 1) + 1, (value >> 1) + 1 + splits[value >> 1]!, start);
    }
  }

  return {
    vocabularySize: [...ids.values()].reduce((most, id) => Math.max(most, id + 1), 0),
    unknownId,
    encode(text) {
      scan(text);
      return buffer.takeEncoding(text);
    },
    ids(text) {
      scan(text);
      return buffer.takeIds();
    },
  };
}
