import { TokenBuffer } from './token-buffer.js';
import { tokenKind, type Tokenizer } from './tokenizer.js';

/**
 * Stands in for a tokenizer that is not known: a token for at most so many bytes, of UTF-8 or of the normal form NFKC,
 * whichever has more. The ids mean nothing. Subword tokenizers fall back to single bytes at worst, so a slice of n such
 * tokens has at most n times `bytesPerToken` tokens of any of them.
 * @param bytesPerToken from 1
 */
export function createByteTokenizer(bytesPerToken: number): Tokenizer {
  const bytes = characterBytes();
  const buffer = new TokenBuffer();

  function fill(text: string): void {
    let start = 0;
    let held = 0;
    for (let at = 0; at < text.length;) {
      const point = text.codePointAt(at)!;
      const next = at + (point > 0xffff ? 2 : 1);
      const own = bytes(point);
      if (held > 0 && held + own > bytesPerToken) {
        buffer.push(0, start, at, tokenKind.head);
        held = 0;
      }
      if (held === 0) start = at;
      if (own > bytesPerToken) {
        // One character that is several tokens: they stay together.
        for (let left = own; left > 0; left -= bytesPerToken)
          buffer.push(0, at, next, left === own ? tokenKind.head : tokenKind.inside);
      } else held += own;
      at = next;
    }
    if (held > 0) buffer.push(0, start, text.length, tokenKind.head);
  }

  return {
    vocabularySize: 1,
    unknownId: undefined,
    encode(text) {
      fill(text);
      return buffer.takeEncoding(text);
    },
    ids(text) {
      fill(text);
      return buffer.takeIds();
    },
  };
}

/** Bytes of a character: some become many letters before a model sees them (ﷺ: 3 bytes, then 33). */
function characterBytes(): (point: number) => number {
  const known = new Map<number, number>();
  return (point) => {
    if (point < 0x80) return 1;
    let bytes = known.get(point);
    if (bytes === undefined) {
      const character = String.fromCodePoint(point);
      bytes = Math.max(Buffer.byteLength(character), Buffer.byteLength(character.normalize('NFKC')));
      known.set(point, bytes);
    }
    return bytes;
  };
}
