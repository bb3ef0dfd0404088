import { Tokenizer } from 'tokenizers';
import { createTokenizer } from '../../../src/inference/tokenizer/create-tokenizer.js';
import { parseTokenizerFile } from '../../../src/inference/tokenizer/tokenizer-file.js';
import type { TokenizerJson } from './tokenizer-files.js';

export interface OracleEncoding {
  readonly ids: number[];
  /** In code points. */
  readonly offsets: number[][];
}

/** The reference library, which is not told of added tokens: then text that spells one is ordinary to it too. */
export function oracle(file: TokenizerJson): (text: string) => Promise<OracleEncoding> {
  const reference = Tokenizer.fromString(JSON.stringify({ ...file, added_tokens: [] }));
  return async (text) => {
    const encoding = await reference.encode(text, null, { addSpecialTokens: false });
    return { ids: encoding.getIds(), offsets: encoding.getOffsets() };
  };
}

/** Our tokenizer of the same file. */
export function tokenizerOf(file: TokenizerJson) {
  return createTokenizer(parseTokenizerFile(JSON.stringify(file), 'tokenizer.json'), 'tokenizer.json');
}
