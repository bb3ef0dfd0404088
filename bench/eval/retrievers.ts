import type { EmbeddingModel, TextRole } from '../../src/contracts/embedding-model.js';
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

/** Each text is embedded once, however many chunkers cut it: many cuts are the same. */
export function denseRetriever(name: string, model: EmbeddingModel): Retriever {
  const known = { document: new Map<string, Float32Array>(), query: new Map<string, Float32Array>() };

  async function embed(texts: readonly CountedText[], role: TextRole, onTexts: (count: number) => void) {
    const vectors = known[role];
    const unknown = texts.filter(({ text }) => !vectors.has(text));
    onTexts(texts.length - unknown.length);
    const found = await embedTexts(model, unknown, role, onTexts);
    unknown.forEach(({ text }, at) => vectors.set(text, found[at]!));
    return texts.map(({ text }) => vectors.get(text)!);
  }

  return {
    name,
    async score(texts, queries, onTexts) {
      const vectors = await embed(texts, 'document', onTexts);
      const asked = await embed(queries, 'query', onTexts);
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
