import { tokenKind } from '../tokenizer.js';
import type { BertCharacters } from './characters.js';
import type { WordPiece } from './word-piece.js';

export interface WordSplitter {
  /** The tokens of any text, whole: [id, start, end, kind] each, offsets in UTF-16 code units of `text`. */
  split(text: string): Int32Array;
}

/** Every step of the reference, with offsets, for a run that was not seen before. */
export function createWordSplitter(
  characters: BertCharacters,
  wordPiece: WordPiece,
  unknownId: number,
  maxWordCharacters: number,
): WordSplitter {
  return {
    split(text) {
      const tokens: number[] = [];
      /** As much of the word as may matter: of one that is too long only its extent is kept. */
      let word = '';
      /** Where each code unit of `word` comes from. */
      let from: number[] = [];
      let to: number[] = [];
      let length = 0;
      let end = 0;

      function endWord() {
        if (length === 0) return;
        let kind: number = tokenKind.head;
        const known =
          length <= maxWordCharacters &&
          wordPiece.split(word, (id, start, end) => {
            tokens.push(id, from[start]!, to[end - 1]!, kind);
            kind = tokenKind.inside;
          });
        if (!known) {
          const start = from[0]!;
          // Measured in units of the text: a cut of it may be short enough to be split, and then has many tokens.
          tokens.push(unknownId, start, end, end - start > maxWordCharacters ? tokenKind.overlong : kind);
        }
        word = '';
        from = [];
        to = [];
        length = 0;
      }

      function append(part: string, start: number) {
        if (length++ >= maxWordCharacters) return;
        word += part;
        for (let unit = 0; unit < part.length; unit++) {
          from.push(start);
          to.push(end);
        }
      }

      for (let at = 0; at < text.length;) {
        const read = text.codePointAt(at)!;
        const next = at + (read > 0xffff ? 2 : 1);
        // A lone surrogate cannot reach the reference, which sees U+FFFD in its place.
        const codePoint = read >= 0xd800 && read < 0xe000 ? 0xfffd : read;
        for (const part of characters.normalized(codePoint)) {
          const normal = part.codePointAt(0)!;
          if (characters.isSpace(normal)) {
            endWord();
            continue;
          }
          const alone = characters.isPunctuation(normal);
          if (alone) endWord();
          end = next;
          append(part, at);
          if (alone) endWord();
        }
        at = next;
      }
      endWord();
      return Int32Array.from(tokens);
    },
  };
}
