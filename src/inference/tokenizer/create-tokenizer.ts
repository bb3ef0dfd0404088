import { z } from 'zod';
import { MillraceError } from '../../errors/millrace-error.js';
import { createBertTokenizer, type BertTokenizerOptions } from './bert/bert-tokenizer.js';
import type { Tokenizer } from './tokenizer.js';
import type { TokenizerFile } from './tokenizer-file.js';

const bertNormalizer = z.object({
  type: z.literal('BertNormalizer'),
  clean_text: z.boolean().default(true),
  handle_chinese_chars: z.boolean().default(true),
  strip_accents: z.boolean().nullish(),
  lowercase: z.boolean().default(true),
});
const wordPiece = z.object({
  type: z.literal('WordPiece').optional(),
  unk_token: z.string().default('[UNK]'),
  continuing_subword_prefix: z.string().default('##'),
  max_input_chars_per_word: z.int().positive().default(100),
  merges: z.undefined().optional(),
});

/**
 * The tokenizer that a `tokenizer.json` describes: ours where it is a BERT one, else the JavaScript library's, which is
 * loaded only then.
 * @param name of the file, for messages
 * @throws MillraceError `model_corrupt`, `model_unsupported`
 */
export async function createTokenizer(file: TokenizerFile, name: string): Promise<Tokenizer> {
  const bert = bertOptions(file);
  if (bert !== undefined) return createBertTokenizer(bert);
  const { createSegmentedTokenizer } = await import('./segmented-tokenizer.js');
  try {
    return createSegmentedTokenizer(file);
  } catch (cause) {
    throw new MillraceError('model_unsupported', `The tokenizer in ${name} cannot be run here.`, {
      cause,
      hint: 'It asks for a step that the @huggingface/tokenizers library does not have.',
    });
  }
}

function bertOptions(file: TokenizerFile): BertTokenizerOptions | undefined {
  const normalizer = bertNormalizer.safeParse(only(file.normalizer, 'normalizers'));
  const model = wordPiece.safeParse(file.model);
  const preTokenizer = z.looseObject({ type: z.literal('BertPreTokenizer') });
  const { vocab } = file.model;
  if (!normalizer.success || !model.success || Array.isArray(vocab)) return undefined;
  if (!preTokenizer.safeParse(only(file.pre_tokenizer, 'pretokenizers')).success) return undefined;
  // Added tokens that are not special are found in the text before anything else: leave that to the library.
  if (file.added_tokens.some(({ special }) => !special)) return undefined;
  const { unk_token, continuing_subword_prefix, max_input_chars_per_word } = model.data;
  const unknownId = vocab[unk_token];
  if (unknownId === undefined) return undefined;
  const { clean_text, handle_chinese_chars, strip_accents, lowercase } = normalizer.data;
  return {
    ids: new Map(Object.entries(vocab)),
    unknownId,
    continuingPrefix: continuing_subword_prefix,
    maxWordCharacters: max_input_chars_per_word,
    normalization: {
      cleanText: clean_text,
      handleChineseChars: handle_chinese_chars,
      stripAccents: strip_accents ?? lowercase,
      lowercase,
    },
  };
}

/** A sequence of one step is that step. */
function only(step: TokenizerFile['normalizer'], key: string): unknown {
  const steps = step?.type === 'Sequence' ? step[key] : undefined;
  return Array.isArray(steps) && steps.length === 1 ? (steps as unknown[])[0] : step;
}
