import { labelsOf, type KeyedResults } from './labelled.js';

export interface ModelComparison {
  /** For each model how often it gave each label. */
  readonly labels: { readonly [model: string]: { readonly [label: string]: number } };
  /** Pairs of models that judged the same items: how many items, and on how many their labels were the same. */
  readonly pairs: readonly PairComparison[];
}

export interface PairComparison {
  readonly models: readonly [string, string];
  readonly items: number;
  readonly agreed: number;
}

/** Groups the results of a keyed `infer` step by model, and compares the models over the items that they share. */
export function compareModels(items: Iterable<KeyedResults>): ModelComparison {
  const labels = new Map<string, Map<string, number>>();
  const pairs = new Map<string, { models: readonly [string, string]; items: number; agreed: number }>();
  for (const { results } of items) {
    const given = Object.entries(results).map(([model, result]) => [model, labelsOf(result).sort()] as const);
    for (const [model, found] of given) {
      const counts = labels.get(model) ?? new Map<string, number>();
      labels.set(model, counts);
      for (const label of found) counts.set(label, (counts.get(label) ?? 0) + 1);
    }
    for (const [at, [first, ours]] of given.entries())
      for (const [second, theirs] of given.slice(at + 1)) {
        const models = [first, second].sort() as [string, string];
        const key = JSON.stringify(models);
        const pair = pairs.get(key) ?? { models, items: 0, agreed: 0 };
        pairs.set(key, pair);
        pair.items += 1;
        if (JSON.stringify(ours) === JSON.stringify(theirs)) pair.agreed += 1;
      }
  }
  return {
    labels: Object.fromEntries([...labels].map(([model, counts]) => [model, Object.fromEntries(counts)])),
    pairs: [...pairs.values()],
  };
}
