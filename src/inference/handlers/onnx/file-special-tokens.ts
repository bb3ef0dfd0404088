import { readFile } from 'node:fs/promises';
import { MillraceError } from '../../../errors/millrace-error.js';
import { readSpecialTokens, type SpecialTokens } from './special-tokens.js';

/** The special tokens that a `tokenizer.json` puts around a text. @throws MillraceError `model_unsupported` */
export async function specialTokensOf(file: string): Promise<SpecialTokens> {
  try {
    const { post_processor } = JSON.parse(await readFile(file, 'utf8')) as { post_processor?: unknown };
    return readSpecialTokens(post_processor);
  } catch (cause) {
    throw new MillraceError('model_unsupported', `The post-processor in ${file} is of an unknown kind`, {
      cause,
      hint: 'It should be a template, BertProcessing, RobertaProcessing or ByteLevel, or a sequence of these.',
    });
  }
}
