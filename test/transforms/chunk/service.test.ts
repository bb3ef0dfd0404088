import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundledFolder } from '../../../src/inference/models/resolve-model.js';
import { loadTokenizer, tokenizerRef } from '../../../src/inference/tokenizer/load-tokenizer.js';
import { createResourceTable } from '../../../src/inference/workers/resources.js';
import { idsReader } from '../../../src/inference/tokenizer/packed-ids.js';
import { unpackPassages } from '../../../src/transforms/chunk/packed-passages.js';
import { create, type ChunkedTexts } from '../../../src/transforms/chunk/service.js';

it('gives each passage the token ids of its own text, heading prefix or not', async () => {
  const resources = createResourceTable().lease();
  const tokenizer = await tokenizerRef(join(bundledFolder(), 'tokenizer.json'));
  const { ids } = await loadTokenizer(tokenizer, resources);
  const text = `Preamble of some words.\n\n# Guide\n\n${'One sentence more. '.repeat(30)}\n\n## Install\n\n${'And another one. '.repeat(30)}`;
  for (const headingPrefix of [false, true]) {
    const chunker = { markdown: { maxTokens: 40, headingPrefix } };
    const service = await create({ chunker, tokenizer }, resources);
    const { value } = await service.methods['chunk']!([text] as never);
    const chunked = value as ChunkedTexts;
    const nextIds = idsReader(chunked);
    const passages = unpackPassages(chunked)[0]!;
    expect(passages.some(({ prefix }) => prefix !== undefined)).toBe(headingPrefix);
    for (const { prefix = '', start, end } of passages) {
      expect([...nextIds()]).toEqual([...ids(prefix + text.slice(start, end))]);
    }
  }
});
