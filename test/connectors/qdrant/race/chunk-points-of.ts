import type { World } from './world.js';

/** The texts of a document's points, sorted: those that readers see and those that nobody does. */
export function chunkPointsOf({ engine }: World, documentId: string): { live: string[]; unseen: string[] } {
  const points = engine
    .points('millrace_race')
    .filter(({ payload }) => payload['document_id'] === documentId)
    .map(({ payload }) => [payload['live'] as boolean, payload['text'] as string] as const);
  const texts = (seen: boolean) => points.flatMap(([live, text]) => (live === seen ? [text] : [])).sort();
  return { live: texts(true), unseen: texts(false) };
}
