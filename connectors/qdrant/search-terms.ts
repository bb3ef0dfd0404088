import type { SearchHit, TermQuery } from '../../src/contracts/chunk-search.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { chunkFields, chunkOf } from './chunk-payload.js';
import { filterCondition } from './filter.js';
import { vectorName, type CollectionNames } from './names.js';
import type { PointCondition, QdrantPort, ScoredPoint } from './port.js';
import { live, newestOfEach } from './search.js';
import { countOf, termsVector, type SparseVector } from './term-weights.js';

/** Different words of a question that count. */
const mostWords = 200;
/** Chunks whose mean length is taken for that of all. */
const sampled = 1000;
/** Hits that are ranked anew, for each one that is asked for, and at least. */
const candidates = { each: 4, least: 100 };
const mostCandidates = 10_000;

/**
 * Best chunks by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with Lucene's
 * inverse document frequency). How many chunks hold a word is counted for each search; the server ranks by the weights
 * that chunks were written with, and the best of these are ranked anew by the query's k1 and b and the mean length.
 */
export async function searchTerms(
  port: QdrantPort,
  { chunks }: CollectionNames,
  { terms, k, k1, b, spaces, filter }: TermQuery,
  signal?: AbortSignal,
): Promise<readonly SearchHit[]> {
  if (!Number.isInteger(k) || k < 1)
    throw new MillraceError('config_invalid', `A search asks for at least 1 hit, not ${k}.`);
  const size = await port.count(chunks, { must: [live] }, signal);
  const words = Array.from(terms.ids.slice(0, mostWords));
  const held = await Promise.all(
    words.map((id) => port.count(chunks, { must: [live, { key: 'terms', match: { value: id } }] }, signal)),
  );
  const rarity = new Map(
    words.flatMap((id, at) =>
      held[at] === 0
        ? []
        : [[id, terms.counts[at]! * Math.log(1 + (size - held[at]! + 0.5) / (held[at]! + 0.5))] as const],
    ),
  );
  if (rarity.size === 0) return [];
  const mean = await meanWords(port, chunks, size, signal);
  const within: PointCondition[] =
    spaces === undefined ? [] : [{ should: spaces.map((space) => ({ has_vector: vectorName(space) })) }];
  const request = {
    vector: { indices: [...rarity.keys()], values: [...rarity.values()] },
    using: termsVector,
    filter: { must: [live, ...within, ...(filter === undefined ? [] : [filterCondition(filter)])] },
    exact: false,
    payload: [...chunkFields, 'words', 'seq'],
    vectors: [termsVector],
  };
  for (let limit = Math.max(candidates.each * k, candidates.least); ; limit *= 2) {
    const found = await port.query(chunks, { ...request, limit }, signal);
    const hits = newestOfEach(found)
      .map((point) => ({ at: point.score, hit: hitOf(point, rarity, { k1, b, mean }) }))
      .sort((one, other) => byScoreAndId(one.hit, other.hit));
    // More may follow that are as good as the last one that is wanted.
    if (
      found.length === limit &&
      limit < mostCandidates &&
      found.at(-1)!.score === (hits[k - 1] ?? hits.at(-1))!.at
    )
      continue;
    return hits.slice(0, k).map(({ hit }) => hit);
  }
}

/** Over all chunks, or over so many of them by chance. */
async function meanWords(
  port: QdrantPort,
  chunks: string,
  size: number,
  signal?: AbortSignal,
): Promise<number> {
  const request = { filter: { must: [live] }, limit: sampled, payload: ['words'] };
  const points =
    size <= sampled
      ? (await port.scroll(chunks, request, signal)).points
      : await port.sample(chunks, request, signal);
  return points.reduce((sum, { payload }) => sum + (payload['words'] as number), 0) / points.length;
}

function hitOf(
  { payload, vector }: ScoredPoint,
  rarity: ReadonlyMap<number, number>,
  { k1, b, mean }: { readonly k1: number; readonly b: number; readonly mean: number },
): SearchHit {
  const words = payload['words'] as number;
  const { indices, values } = vector[termsVector] as SparseVector;
  const norm = k1 * (1 - b + (b * words) / mean);
  let score = 0;
  for (const [at, id] of indices.entries()) {
    const rare = rarity.get(id);
    const count = rare === undefined ? 0 : countOf(values[at]!, words);
    if (count > 0) score += (rare! * count * (k1 + 1)) / (count + norm);
  }
  return { ...chunkOf(payload), score };
}

function byScoreAndId(a: SearchHit, b: SearchHit): number {
  return b.score - a.score || (a.chunkId < b.chunkId ? -1 : 1);
}
