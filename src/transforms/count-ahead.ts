import type { EmbeddingModel, EmbedText } from '../contracts/embedding-model.js';
import { Batcher } from '../flow/batcher.js';

/** Characters of one call: some 10 ms of work, so that it keeps no batch waiting for long. */
const charactersAtOnce = 32 * 1024;
const textsAtOnce = 256;

/**
 * Gives each text its ids, in worker threads, before it waits for a batch: only true lengths pad little. The work is not
 * lost, the model takes the ids. Undefined for models that need none.
 */
export function createCountAhead(
  { tokenize, concurrency }: EmbeddingModel,
  patiently: <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>,
): ((text: EmbedText) => Promise<EmbedText>) | undefined {
  if (tokenize === undefined) return undefined;
  const batcher = new Batcher<string, Int32Array | undefined>({
    run: async (texts) =>
      (await patiently((signal) => tokenize(texts, signal))) ?? texts.map(() => undefined),
    cost: (text) => text.length,
    maxCost: charactersAtOnce,
    maxItems: textsAtOnce,
    concurrency,
  });
  return async ({ text }) => {
    const ids = await batcher.submit(text);
    return ids === undefined ? { text } : { text, ids };
  };
}
