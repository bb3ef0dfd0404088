import { expect, test } from 'vitest';
import { compareModels } from '../../../src/transforms/infer/compare-models.js';
import { labelledByModel } from '../../../src/transforms/infer/labelled.js';

const results = (labels: Record<string, string>) =>
  labelledByModel(
    new Map(
      Object.entries(labels).map(([model, label]) => [model, { modelId: `${model}-id`, value: { label } }]),
    ),
  );

test('results of several models are kept by model, with their labels as {model}:{label}', () => {
  expect(results({ small: 'calm', large: 'loud' })).toEqual({
    labels: ['small:calm', 'large:loud'],
    results: {
      small: { label: 'calm', modelId: 'small-id' },
      large: { label: 'loud', modelId: 'large-id' },
    },
  });
  const odd = new Map([
    ['list', { modelId: 'l', value: { labels: ['a', { label: 'b', score: 1 }] } }],
    ['plain', { modelId: 'p', value: 7 }],
    ['silent', { modelId: 's', value: { note: 'none' } }],
  ]);
  expect(labelledByModel(odd).labels).toEqual(['list:a', 'list:b', 'plain:7']);
});

test('models are compared over the items that both judged', () => {
  const comparison = compareModels([
    results({ small: 'calm', large: 'calm' }),
    results({ small: 'calm', large: 'loud' }),
    results({ large: 'loud' }),
    results({ large: 'calm', small: 'calm', other: 'sad' }),
  ]);
  expect(comparison.labels).toEqual({
    small: { calm: 3 },
    large: { calm: 2, loud: 2 },
    other: { sad: 1 },
  });
  expect(comparison.pairs).toEqual([
    { models: ['large', 'small'], items: 3, agreed: 2 },
    { models: ['large', 'other'], items: 1, agreed: 0 },
    { models: ['other', 'small'], items: 1, agreed: 0 },
  ]);
});
