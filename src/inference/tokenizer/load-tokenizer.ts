import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ByteMeasure, TokenizerRef } from '../../contracts/embedding-model.js';
import { MillraceError } from '../../errors/millrace-error.js';
import type { Resources } from '../workers/resources.js';
import { createByteTokenizer } from './byte-tokenizer.js';
import { createTokenizer } from './create-tokenizer.js';
import { parseTokenizerFile } from './tokenizer-file.js';
import type { Tokenizer } from './tokenizer.js';

/** Names a `tokenizer.json` for worker threads. @throws MillraceError `model_not_found` */
export async function tokenizerRef(file: string): Promise<TokenizerRef> {
  return { file, digest: sha256(await read(file)) };
}

/**
 * The one tokenizer of this thread under this digest: services that name the same one share it and its word cache.
 * @throws MillraceError `model_not_found`; `model_corrupt` also when the file has changed since it was named;
 * `model_unsupported`
 */
export function loadTokenizer(ref: TokenizerRef | ByteMeasure, resources: Resources): Promise<Tokenizer> {
  if ('bytesPerToken' in ref) return Promise.resolve(createByteTokenizer(ref.bytesPerToken));
  return resources.share(`tokenizer ${ref.digest}`, () => readTokenizer(ref));
}

async function readTokenizer({ file, digest }: TokenizerRef): Promise<Tokenizer> {
  const bytes = await read(file);
  if (sha256(bytes) !== digest)
    throw new MillraceError('model_corrupt', `${file} has changed since its model was loaded.`, {
      hint: 'Do not change the files of a model in place: load the new one under another path.',
    });
  return createTokenizer(parseTokenizerFile(bytes.toString('utf8'), file), file);
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new MillraceError('model_not_found', `The tokenizer ${file} cannot be read.`, { cause });
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
