import { Tokenizer as Library } from '@huggingface/tokenizers';
import type { TokenizerFile } from './tokenizer-file.js';

/** The ids of a short text by the JavaScript library, special tokens excluded and unknown to it. */
export type LibraryIds = (text: string) => readonly number[];

/**
 * The library looks for the special tokens of the file in every text. It is given a file without them, and with pieces
 * of the vocabulary that spell one put out of reach, so that such text is split like any other.
 */
export function createLibraryTokenizer(file: TokenizerFile): LibraryIds {
  const special = new Set(file.added_tokens.filter((token) => token.special).map(({ content }) => content));
  const library = new Library(
    {
      decoder: null,
      ...file,
      normalizer: file.normalizer ?? null,
      pre_tokenizer: file.pre_tokenizer ?? null,
      post_processor: null,
      added_tokens: file.added_tokens.filter((token) => !token.special),
      model: { ...file.model, vocab: withoutSpecial(file.model, special) },
    },
    {},
  );
  // NUL is what puts the special pieces out of reach; in a document it is U+FFFD anyway.
  return (text) => library.encode(text.replaceAll('\0', '\ufffd'), { add_special_tokens: false }).ids;
}

function withoutSpecial(model: TokenizerFile['model'], special: ReadonlySet<string>): unknown {
  const { vocab, unk_token: unknown } = model;
  // Their places in the list are their ids, so they stay there, under names that no text spells.
  if (Array.isArray(vocab))
    return vocab.map(([piece, score]) => [special.has(piece) ? `\0${piece}` : piece, score]);
  return Object.fromEntries(
    Object.entries(vocab).filter(([piece]) => !special.has(piece) || piece === unknown),
  );
}
