import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TokenizerRef } from '../../../src/contracts/embedding-model.js';
import type { MeasureText } from '../../../src/contracts/token-measure.js';
import { bundledFolder } from '../../../src/inference/models/resolve-model.js';
import { loadTokenizer, tokenizerRef } from '../../../src/inference/tokenizer/load-tokenizer.js';
import { measureTokens } from '../../../src/inference/tokenizer/measure-tokens.js';
import type { Tokenizer } from '../../../src/inference/tokenizer/tokenizer.js';
import { createResourceTable } from '../../../src/inference/workers/resources.js';
import { createSplitter } from '../../../src/transforms/chunk/chunker.js';
import { expectWhole } from './support/expect-whole.js';
import { legalLimits, nastyText } from './support/nasty-text.js';

let ref: TokenizerRef;
let tokenizer: Tokenizer;
const resources = createResourceTable().lease();
beforeAll(async () => {
  ref = await tokenizerRef(join(bundledFolder(), 'tokenizer.json'));
  tokenizer = await loadTokenizer(ref, resources);
});

const measure: MeasureText = (text) => measureTokens(tokenizer, tokenizer.encode(text));

describe('measured by the tokenizer of the bundled model', () => {
  it.each([
    ['recursive', (limits: object) => createSplitter({ recursive: limits })],
    ['markdown', (limits: object) => createSplitter({ markdown: { ...limits, headingPrefix: true } })],
  ] as const)('the %s chunker gives the model no more tokens than the limit', (_name, splitter) => {
    fc.assert(
      fc.property(nastyText, legalLimits, (text, limits) => {
        const passages = splitter(limits)(text, measure);
        expectWhole(text, passages, measure, limits);
        const read = passages.map(({ start, end, prefix = '' }) => prefix + text.slice(start, end));
        const over = read.filter(
          (piece) => tokenizer.ids(piece).length > limits.maxTokens && [...piece].length > 1,
        );
        expect(over).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
