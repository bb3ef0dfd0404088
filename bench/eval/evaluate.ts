import { createHash } from 'node:crypto';
import { measureTokens } from '../../src/inference/tokenizer/measure-tokens.js';
import type { Tokenizer } from '../../src/inference/tokenizer/tokenizer.js';
import { createSplitter, type ChunkerSpec } from '../../src/transforms/chunk/chunker.js';
import { best } from './best.js';
import type { Corpus } from './data.js';
import { measure, type Measures } from './measures.js';
import type { Retriever } from './retrievers.js';
import { tokenPositions } from './token-positions.js';

/** What one question got, with its corpus. */
export interface Answer extends Measures {
  readonly corpus: string;
}

export interface EvaluateOptions {
  /** Chunks that are retrieved for each question. */
  readonly k: number;
  /** Counts tokens, for chunk sizes and for the measures. */
  readonly tokenizer: Tokenizer;
  /** Called with how many texts are done, of how many. */
  onProgress(retriever: string, done: number, total: number): void;
}

/** For each retriever one answer a question, in the order of the data; and the chunks of all corpora together. */
export interface Evaluation {
  readonly chunks: number;
  /** Of where the chunks lie and what is embedded of them: equal for chunkers that do the same to these corpora. */
  readonly digest: string;
  readonly answers: ReadonlyMap<string, readonly Answer[]>;
}

/** Chunks each corpus into an index of its own, asks it its questions, and measures what comes back. */
export async function evaluate(
  chunker: ChunkerSpec,
  corpora: readonly Corpus[],
  retrievers: readonly Retriever[],
  { k, tokenizer, onProgress }: EvaluateOptions,
): Promise<Evaluation> {
  const split = createSplitter(chunker);
  const indexes = corpora.map(({ name, text, questions }) => {
    const encoding = tokenizer.encode(text);
    const passages = split(text, () => measureTokens(tokenizer, encoding));
    const inTokens = tokenPositions(encoding.starts);
    return {
      name,
      texts: passages.map(({ start, end, prefix = '', tokens }) => ({
        text: prefix + text.slice(start, end),
        tokens,
      })),
      queries: questions.map(({ question }) => ({
        text: question,
        tokens: tokenizer.ids(question).length,
      })),
      passages: passages.map(inTokens),
      references: questions.map(({ references }) => references.map(inTokens)),
    };
  });
  const chunks = indexes.reduce((sum, { texts }) => sum + texts.length, 0);
  const total = indexes.reduce((sum, { texts, queries }) => sum + texts.length + queries.length, 0);

  const answers = new Map<string, Answer[]>();
  for (const retriever of retrievers) {
    const given: Answer[] = [];
    let done = 0;
    for (const { name, texts, queries, passages, references } of indexes) {
      const scores = await retriever.score(texts, queries, (count) => {
        onProgress(retriever.name, (done += count), total);
      });
      scores.forEach((score, question) => {
        const retrieved = best(score, k).map((index) => passages[index]!);
        given.push({ corpus: name, ...measure(retrieved, references[question]!) });
      });
    }
    answers.set(retriever.name, given);
  }
  const cuts = indexes.map(({ texts, passages }) => [texts, passages]);
  const digest = createHash('sha256').update(JSON.stringify(cuts)).digest('hex');
  return { chunks, digest, answers };
}
