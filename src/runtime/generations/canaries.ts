import type { Clock } from '../../contracts/context.js';
import type { EmbeddingModel } from '../../contracts/embedding-model.js';
import type { GenerationView } from '../../contracts/generations.js';
import { fuseByRank } from '../../retrieval/fusion.js';
import { createEmbedder } from '../../transforms/embed.js';

/** A question of one's own, asked of two generations. */
export interface CanaryShare {
  readonly query: string;
  /** Share of the documents found that both name, 0 to 1; 1 where neither finds any. */
  readonly share: number;
}

/** A generation with the models of its spaces. */
export interface CanarySide {
  readonly view: GenerationView;
  readonly models: ReadonlyMap<string, EmbeddingModel>;
}

export interface CanaryOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Documents that are compared of each question. */
const depth = 10;

/** How far two generations give the same documents to each of these questions, each by its own models. */
export async function canaryShares(
  queries: readonly string[],
  one: CanarySide,
  other: CanarySide,
  options: CanaryOptions,
): Promise<readonly CanaryShare[]> {
  const [ask, askOther] = [asker(one, options), asker(other, options)];
  const shares: CanaryShare[] = [];
  for (const query of queries) {
    const [a, b] = await Promise.all([ask(query), askOther(query)]);
    const most = Math.min(a.size, b.size);
    const both = [...a].filter((id) => b.has(id)).length;
    shares.push({ query, share: most > 0 ? both / most : a.size === b.size ? 1 : 0 });
  }
  return shares;
}

/** Asks every space, and fuses them as a query does. */
function asker({ view, models }: CanarySide, { clock, signal }: CanaryOptions) {
  const report = () => undefined;
  const embedders = [...models].map(([space, model]) => ({
    space,
    embedder: createEmbedder({ model, role: 'query', clock, signal, report }),
  }));
  return async (text: string): Promise<ReadonlySet<string>> => {
    const rankings = await Promise.all(
      embedders.map(async ({ space, embedder }) => {
        const { vector } = await embedder.embed({ text });
        return view.search.search({ space, vector, k: depth * 4 }, signal);
      }),
    );
    const hits = rankings.length === 1 ? rankings[0]! : fuseByRank(rankings, depth * 4);
    return new Set([...new Set(hits.map(({ documentId }) => documentId))].slice(0, depth));
  };
}
