import { byteLevelAlphabet } from 'tokenizers';
import { frequent } from './corpus.js';

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

/** A `tokenizer.json` as an object. */
export interface TokenizerJson {
  version: string;
  truncation: null;
  padding: null;
  added_tokens: AddedToken[];
  normalizer: Record<string, unknown> | null;
  pre_tokenizer: Record<string, unknown>;
  post_processor: null;
  decoder: null;
  model: Record<string, unknown>;
}

function tokenizerJson(
  special: readonly string[],
  parts: Pick<TokenizerJson, 'normalizer' | 'pre_tokenizer' | 'model'>,
): TokenizerJson {
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: special.map((content, id) => ({
      ...{ id, content, special: true, single_word: false },
      ...{ lstrip: false, rstrip: false, normalized: false },
    })),
    post_processor: null,
    decoder: null,
    ...parts,
  };
}

export interface BertFlags {
  readonly lowercase?: boolean;
  readonly strip_accents?: boolean | null;
  readonly clean_text?: boolean;
  readonly handle_chinese_chars?: boolean;
}

/** A BERT tokenizer whose vocabulary is drawn from these texts. */
export function bertFile(texts: readonly string[], flags: BertFlags = {}): TokenizerJson {
  const special = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
  const plain = texts.map((text) => (flags.lowercase === false ? text : text.toLowerCase().normalize('NFD')));
  const words = frequent(plain, /[\p{L}\p{N}]+/gu);
  const endings = frequent(words, /(?<=.)[\p{L}\p{N}]{2,4}$/gu);
  const characters = [...frequent(plain, /\S/gu), ...'語漢字人中文กขคสวัดี가ᄀ각ßøłσςæ😀“”…—'];
  const pieces = new Set([
    ...special,
    ...characters,
    ...characters.map((character) => `##${character}`),
    ...words.slice(0, 4000),
    ...endings.slice(0, 500).map((ending) => `##${ending}`),
  ]);
  return tokenizerJson(special, {
    normalizer: {
      type: 'BertNormalizer',
      ...{ clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
      ...flags,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries([...pieces].map((piece, id) => [piece, id])),
    },
  });
}

/** A Unigram tokenizer in the way of XLM-R: words and characters, with their frequency as the score. */
export function unigramFile(texts: readonly string[]): TokenizerJson {
  const special = ['<s>', '<pad>', '</s>', '<unk>'];
  const words = frequent(texts, /[\p{L}\p{N}]+/gu).slice(0, 3000);
  const pieces = [
    ...new Set(['▁', ...words.map((word) => `▁${word}`), ...words, ...frequent(texts, /\S/gu)]),
  ];
  return tokenizerJson(special, {
    normalizer: null,
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
    model: {
      type: 'Unigram',
      unk_id: 3,
      byte_fallback: false,
      vocab: [
        ...special.map((piece) => [piece, 0]),
        ...pieces.map((piece, rank) => [piece, -Math.log(rank + 2) - 8 / piece.length]),
      ],
    },
  });
}

/** A byte-level BPE tokenizer in the way of GPT-2, trained on the common words of these texts. */
export function bpeFile(texts: readonly string[], merges = 250): TokenizerJson {
  const special = ['<|endoftext|>'];
  const words = frequent(texts, / ?[A-Za-z]+/g)
    .slice(0, 1500)
    .map((word) => [...word.replace(' ', 'Ġ')]);
  const learned: [string, string][] = [];
  for (let round = 0; round < merges; round++) {
    const counts = new Map<string, number>();
    words.forEach((word, rank) => {
      for (let at = 0; at + 1 < word.length; at++) {
        const pair = `${word[at]} ${word[at + 1]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1 / (rank + 1));
      }
    });
    const [best] = [...counts].sort(([, x], [, y]) => y - x)[0]!;
    const pair = best.split(' ') as [string, string];
    learned.push(pair);
    for (const word of words)
      for (let at = 0; at + 1 < word.length; at++)
        if (word[at] === pair[0] && word[at + 1] === pair[1]) word.splice(at, 2, pair.join(''));
  }
  const pieces = new Set([
    ...special,
    ...byteLevelAlphabet().sort(),
    ...learned.map((pair) => pair.join('')),
  ]);
  return tokenizerJson(special, {
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab: Object.fromEntries([...pieces].map((piece, id) => [piece, id])),
      merges: learned,
    },
  });
}
