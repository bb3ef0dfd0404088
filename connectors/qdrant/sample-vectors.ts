import type { SampleVector } from '../../src/contracts/generations.js';
import { documentKey, vectorName } from './names.js';
import type { Place } from './places.js';
import type { NamedVectors, Payload, QdrantPort } from './port.js';
import { live, newestOfEach } from './search.js';

interface Sampled {
  readonly payload: Payload;
  readonly vector: NamedVectors;
}

/** @see GenerationView.vectors. Documents by chance where so many are asked for. */
export async function sampleVectors(
  port: QdrantPort,
  { names, spaces }: Place,
  pipeline: string,
  of: number | readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, SampleVector>> {
  const first = { key: 'ordinal', range: { lte: 0 } };
  const select = {
    payload: ['document_id', 'chunk_id', 'seq'],
    vectors: spaces.map(({ name }) => vectorName(name)),
  };
  const points: readonly Sampled[] =
    typeof of === 'number'
      ? await port.sample(names.chunks, { filter: { must: [live, first] }, limit: of, ...select }, signal)
      : await ofDocuments(of);
  return new Map(newestOfEach(points).flatMap(sample));

  async function ofDocuments(ids: readonly string[]): Promise<readonly Sampled[]> {
    const docs = { key: 'doc', match: { any: ids.map((id) => documentKey(pipeline, id)) } };
    // While a document is replaced, both of its versions may be seen.
    const request = { filter: { must: [docs, live, first] }, limit: ids.length * 2, ...select };
    return ids.length === 0 ? [] : (await port.scroll(names.chunks, request, signal)).points;
  }

  /** The first space that the document is in. */
  function sample({ payload, vector }: Sampled): [string, SampleVector][] {
    for (const { name } of spaces) {
      const found = vector[vectorName(name)];
      if (found === undefined || 'indices' in found) continue;
      return [[payload['document_id'] as string, { space: name, vector: Float32Array.from(found) }]];
    }
    return [];
  }
}
