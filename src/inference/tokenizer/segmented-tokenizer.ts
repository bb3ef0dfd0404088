import { createLibraryTokenizer, type LibraryIds } from './library-tokenizer.js';
import { eachSegment } from './segments.js';
import { TokenBuffer } from './token-buffer.js';
import { tokenKind, type Tokenizer } from './tokenizer.js';
import type { TokenizerFile } from './tokenizer-file.js';

/** Longest text whose ids are asked of the library in one piece. */
const longestWhole = 8192;
const cachedSegments = 1 << 15;
const longestCached = 64;

/** Ordinary prose of several shapes, to see how this tokenizer takes a word's leading blank. */
const probes = [
  'The quick brown fox, 12 foxes in all, jumps over the lazy dog.',
  "It's a list:\n\n- one (first) item\n- another\n",
  'Ünïcödé wörds und Straße – naïve café',
];

/**
 * Any other tokenizer (BPE, Unigram, WordLevel), run by the library on segments of bounded length. Every token of a
 * segment has the segment's offsets. Counts are exact where segments are independent of each other, as they are for the
 * usual pre-tokenizers; a text of over 400 characters without a blank is cut, and may then count a few tokens more.
 * Ids of a text of up to 8,192 characters are those of the text in one piece.
 */
export function createSegmentedTokenizer(file: TokenizerFile): Tokenizer {
  const library = createLibraryTokenizer(file);
  const keepsBlank =
    !probes.every((probe) => isAdditive(library, probe, 1)) || probes.every((p) => isAdditive(library, p, 0));
  const skip = keepsBlank ? 0 : 1;
  const cache = new Map<string, readonly number[]>();
  const buffer = new TokenBuffer();

  function segmentIds(segment: string): readonly number[] {
    if (segment.length > longestCached) return library(segment);
    let ids = cache.get(segment);
    if (ids === undefined) {
      ids = library(segment);
      if (cache.size === cachedSegments) cache.clear();
      // A copy: a slice as the key would hold on to the whole text.
      cache.set(Buffer.from(segment, 'utf16le').toString('utf16le'), ids);
    }
    return ids;
  }

  function scan(text: string) {
    eachSegment(text, (start, end) => {
      const from = start > 0 && text.charCodeAt(start) === 32 ? start + skip : start;
      let kind: number = tokenKind.head;
      for (const id of segmentIds(text.slice(from, end))) {
        buffer.push(id, from, end, kind);
        kind = tokenKind.inside;
      }
    });
  }

  return {
    vocabularySize: vocabularySize(file),
    unknownId: unknownId(file.model),
    encode(text) {
      scan(text);
      return buffer.takeEncoding(text);
    },
    ids(text) {
      if (text.length <= longestWhole) return Int32Array.from(library(text));
      scan(text);
      return buffer.takeIds();
    },
  };
}

function isAdditive(library: LibraryIds, text: string, skip: number): boolean {
  const parts: number[] = [];
  eachSegment(text, (start, end) =>
    parts.push(...library(text.slice(start > 0 ? start + skip : start, end))),
  );
  const whole = library(text);
  return parts.length === whole.length && parts.every((id, at) => id === whole[at]);
}

function vocabularySize({ model, added_tokens: added }: TokenizerFile): number {
  const ids = Array.isArray(model.vocab) ? [model.vocab.length - 1] : Object.values(model.vocab);
  return [...ids, ...added.map(({ id }) => id)].reduce((most, id) => Math.max(most, id + 1), 0);
}

function unknownId({ vocab, unk_id: id, unk_token: token }: TokenizerFile['model']): number | undefined {
  if (Array.isArray(vocab)) return typeof id === 'number' ? id : undefined;
  return typeof token === 'string' ? vocab[token] : undefined;
}
