import { describe, expect, test } from 'vitest';
import { readSpecialTokens } from '../../../../src/inference/handlers/onnx/special-tokens.js';

const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
const text = { Sequence: { id: 'A', type_id: 0 } };
const special_tokens = {
  '<s>': { id: '<s>', ids: [0], tokens: ['<s>'] },
  '</s>': { id: '</s>', ids: [2], tokens: ['</s>'] },
  lang: { id: 'lang', ids: [7, 8], tokens: ['a', 'b'] },
};

describe('the special tokens around a text', () => {
  test.each([
    ['no post-processor', null, [], []],
    [
      'a template',
      {
        type: 'TemplateProcessing',
        single: [special('<s>'), text, special('</s>')],
        pair: [],
        special_tokens,
      },
      [0],
      [2],
    ],
    [
      'a template with tokens of several ids, before the text only',
      {
        type: 'TemplateProcessing',
        single: [special('lang'), special('<s>'), text],
        pair: [],
        special_tokens,
      },
      [7, 8, 0],
      [],
    ],
    ['BERT', { type: 'BertProcessing', sep: ['[SEP]', 102], cls: ['[CLS]', 101] }, [101], [102]],
    [
      'RoBERTa',
      {
        type: 'RobertaProcessing',
        sep: ['</s>', 2],
        cls: ['<s>', 0],
        trim_offsets: true,
        add_prefix_space: false,
      },
      [0],
      [2],
    ],
    [
      'a byte-level tokenizer with a template',
      {
        type: 'Sequence',
        processors: [
          { type: 'ByteLevel', trim_offsets: true },
          { type: 'TemplateProcessing', single: [text, special('</s>')], pair: [], special_tokens },
        ],
      },
      [],
      [2],
    ],
  ])('of %s', (_, processor, before, after) => {
    expect(readSpecialTokens(processor)).toEqual({ before, after });
  });

  test('are not guessed for an unknown post-processor, nor for a template that names an unknown token', () => {
    expect(() => readSpecialTokens({ type: 'Magic' })).toThrow();
    const single = [special('none'), text];
    expect(() => readSpecialTokens({ type: 'TemplateProcessing', single, special_tokens })).toThrow();
  });
});
