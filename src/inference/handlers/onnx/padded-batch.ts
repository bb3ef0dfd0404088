import type { SpecialTokens } from './special-tokens.js';

/** Sequences of one length, as a model takes them: shape [rows, length], padded on the right. */
export interface PaddedBatch {
  readonly rows: number;
  readonly length: number;
  /** Tokens of each row, special tokens included. */
  readonly counts: Int32Array;
  /** Token ids, 0 where there is no token. */
  readonly ids: Int32Array;
  /** 1 where there is a token. */
  readonly mask: Int32Array;
  /** Rows whose text was cut at `maxTokens`; their special tokens are kept. */
  readonly truncated: number;
}

/**
 * Puts special tokens around each text, cuts what is over `maxTokens`, and pads to the longest row.
 */
export function padBatch(
  texts: readonly Int32Array[],
  { before, after }: SpecialTokens,
  maxTokens: number,
): PaddedBatch {
  const room = Math.max(0, maxTokens - before.length - after.length);
  const counts = Int32Array.from(
    texts,
    ({ length }) => Math.min(length, room) + before.length + after.length,
  );
  const length = counts.reduce((most, count) => Math.max(most, count), 0);
  const ids = new Int32Array(texts.length * length);
  const mask = new Int32Array(texts.length * length);
  let truncated = 0;
  for (const [row, text] of texts.entries()) {
    if (text.length > room) truncated++;
    const kept = text.subarray(0, room);
    const start = row * length;
    ids.set(before, start);
    ids.set(kept, start + before.length);
    ids.set(after, start + before.length + kept.length);
    mask.fill(1, start, start + counts[row]!);
  }
  return { rows: texts.length, length, counts, ids, mask, truncated };
}
