import type { EmbeddingModel, TextRole } from '../../src/contracts/embedding-model.js';
import { QueueBySize } from '../../src/flow/queue-by-size.js';
import { QueueInTurn } from '../../src/flow/queue-in-turn.js';

/** A text with its tokens, special tokens excluded. */
export interface CountedText {
  readonly text: string;
  readonly tokens: number;
}

interface Waiting {
  readonly text: string;
  readonly index: number;
  readonly size: number;
}

/** Tokens that a model puts around a text: at most this many. */
const specialTokens = 2;

/**
 * Embeds texts in batches of similar length, as many at once as the model has workers for.
 * @param onTexts called with the number of texts of each batch that is done
 */
export async function embedTexts(
  model: EmbeddingModel,
  texts: readonly CountedText[],
  role: TextRole,
  onTexts: (count: number) => void,
): Promise<Float32Array[]> {
  const vectors: Float32Array[] = [];
  const { padded, tokens: cost, texts: items } = model.batching;
  const queue = padded ? new QueueBySize<Waiting>() : new QueueInTurn<Waiting>();
  texts.forEach(({ text, tokens }, index) => queue.add({ text, index, size: tokens + specialTokens }));

  async function work(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.take({ cost, items });
      const { vectors: found } = await model.embed(batch, role);
      batch.forEach(({ index }, at) => (vectors[index] = found[at]!));
      onTexts(batch.length);
    }
  }
  await Promise.all(Array.from({ length: model.concurrency }, work));
  return vectors;
}

/** The cosine of a query's vector with each text's. */
export function cosines(query: Float32Array, texts: readonly Float32Array[]): Float64Array {
  const scores = new Float64Array(texts.length);
  for (let index = 0; index < texts.length; index++) scores[index] = cosine(query, texts[index]!);
  return scores;
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [product, squaresA, squaresB] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    product += a[at]! * b[at]!;
    squaresA += a[at]! * a[at]!;
    squaresB += b[at]! * b[at]!;
  }
  return product / Math.sqrt(squaresA * squaresB);
}
