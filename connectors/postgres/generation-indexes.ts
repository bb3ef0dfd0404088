import type { FoundLayout } from './layout.js';

/** Names of the indexes of the vectors of a generation, also of single tenants. */
export function vectorIndexes({
  spaces,
  indexes,
}: Pick<FoundLayout, 'spaces' | 'indexes'>): readonly string[] {
  return [...indexes].filter((name) =>
    spaces.some(({ index }) => name === index || name.startsWith(`${index}_t`)),
  );
}

/** Names of all indexes that a generation may have. */
export function indexNames(found: FoundLayout): ReadonlySet<string> {
  const { spaces, columns, termsIndex } = found;
  return new Set([
    ...spaces.map(({ index }) => index),
    ...vectorIndexes(found),
    ...columns.map(({ indexName }) => indexName),
    termsIndex,
  ]);
}
