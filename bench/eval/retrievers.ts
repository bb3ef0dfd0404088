import type { EmbeddingModel } from '../../src/contracts/embedding-model.js';
import { createBm25 } from './bm25.js';
import { cosines, embedTexts, type CountedText } from './dense.js';

/** Scores texts for each of several queries. */
export interface Retriever {
  readonly name: string;
  /** @returns for each query a score for each text: the greater, the better */
  score(
    texts: readonly CountedText[],
    queries: readonly CountedText[],
    onTexts: (count: number) => void,
  ): Promise<readonly Float64Array[]>;
}

export function denseRetriever(name: string, model: EmbeddingModel): Retriever {
  return {
    name,
    async score(texts, queries, onTexts) {
      const vectors = await embedTexts(model, texts, 'document', onTexts);
      const asked = await embedTexts(model, queries, 'query', onTexts);
      return asked.map((query) => cosines(query, vectors));
    },
  };
}

export const bm25Retriever: Retriever = {
  name: 'bm25',
  score(texts, queries, onTexts) {
    const score = createBm25(texts.map(({ text }) => text));
    const scores = queries.map(({ text }) => score(text));
    onTexts(texts.length + queries.length);
    return Promise.resolve(scores);
  },
};
