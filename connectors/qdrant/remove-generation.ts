import { artifactKey, type CollectionNames } from './names.js';
import type { PointFilter, QdrantPort } from './port.js';

/** What the first generation remembers of itself; the rest is of the pipeline. */
const ownOfFirst = ['chain', 'first-fill'];

/** Removes the collections of a generation and what it remembered; may be done again where it was cut off. */
export async function removeGeneration(
  port: QdrantPort,
  { chunks, ledger, behind, texts, artifacts }: CollectionNames,
  number: number,
  signal?: AbortSignal,
): Promise<void> {
  for (const collection of [chunks, ledger, behind, texts]) await port.drop(collection, signal);
  const filter: PointFilter =
    number === 1
      ? { must: [{ has_id: ownOfFirst.map((name) => artifactKey(name)) }] }
      : { must: [{ key: 'generation', match: { value: number } }] };
  await port.update(artifacts, [{ delete: { filter } }], signal);
}
