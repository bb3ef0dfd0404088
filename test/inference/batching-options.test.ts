import { describe, expect, test } from 'vitest';
import { batchingOptions, withOptions } from '../../src/inference/batching-options.js';

const own = { padded: true, tokens: 1_536, texts: 256, minTokens: 256, maxTokens: 4_096 };

describe('the batching of a handler', () => {
  test('stays as the handler has it without options', () => {
    expect(withOptions(own)).toEqual(own);
  });

  test('begins within the bounds that the configuration gives, and one bound moves the other along', () => {
    expect(withOptions(own, { maxTokens: 128 })).toMatchObject({
      tokens: 128,
      minTokens: 128,
      maxTokens: 128,
    });
    expect(withOptions(own, { minTokens: 8_192 })).toMatchObject({ tokens: 8_192, maxTokens: 8_192 });
    expect(withOptions(own, { latencyMs: 50, maxWaitMs: 5 })).toEqual({
      ...own,
      latencyMs: 50,
      maxWaitMs: 5,
    });
  });

  test('is fixed for a handler that names one size', () => {
    expect(withOptions({ padded: false, tokens: 100, texts: 10 })).toMatchObject({
      minTokens: 100,
      maxTokens: 100,
    });
  });

  test('refuses bounds that exclude each other', () => {
    expect(batchingOptions.safeParse({ minTokens: 10, maxTokens: 9 }).error?.issues[0]?.message).toContain(
      'swap them',
    );
    expect(batchingOptions.safeParse({ minTokens: 9, maxTokens: 9 }).success).toBe(true);
  });
});
