import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pgliteConfig } from '../../connectors/postgres/config.js';
import { createPgliteStore } from '../../connectors/postgres/pglite-store.js';
import type { SearchHit } from '../../src/contracts/chunk-search.js';
import type { EmbeddingModel } from '../../src/contracts/embedding-model.js';
import type { Store } from '../../src/contracts/store.js';
import type { Chunk } from '../../src/elements/chunk.js';
import { textHash } from '../../src/elements/hash.js';
import { ChunkIds } from '../../src/elements/ids.js';
import { versionOf } from '../../src/elements/version.js';
import { systemClock } from '../../src/flow/system-clock.js';
import { fuseByRank } from '../../src/retrieval/fusion.js';
import { countTerms } from '../../src/transforms/terms/count-terms.js';
import { defaultSparse } from '../../src/transforms/terms/sparse-schema.js';
import { embedTexts, type CountedText } from './dense.js';
import type { Retriever } from './retrievers.js';

/** Real parts from end to end: each corpus in a pipeline of its own in an embedded store, asked by words or both ways. */
export interface StoreRetrievers {
  readonly retrievers: readonly Retriever[];
  close(): Promise<void>;
}

const space = '*';

/** @param models by name: each is asked together with the words */
export async function openStoreRetrievers(
  models: ReadonlyMap<string, EmbeddingModel>,
): Promise<StoreRetrievers> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-eval-'));
  const stores: Store[] = [];

  async function fill(texts: readonly CountedText[], model: EmbeddingModel): Promise<Store> {
    const context = {
      pipeline: `eval-${stores.length}`,
      baseFolder: folder,
      clock: systemClock,
      notify: () => undefined,
    };
    const store = await createPgliteStore(pgliteConfig.parse({ path: 'store', index: 'off' }), context);
    stores.push(store);
    await store.prepare({ spaces: [{ name: space, width: model.identity.width }], terms: true });
    const vectors = await embedTexts(model, texts, 'document', () => undefined);
    const write = {
      kind: 'store',
      given: undefined,
      documentId: 'corpus',
      source: 'eval',
      version: versionOf(0, 1n),
      contentHash: 'corpus',
      chainDigest: 'eval',
      chunks: texts.map(({ text }, ordinal) => chunkOf(text, ordinal)),
      spaces: [{ space, vectors }],
    } as const;
    const [result] = await store.sink.write([write]);
    if (result!.kind !== 'done') throw new Error(`The corpus could not be stored: ${JSON.stringify(result)}`);
    return store;
  }

  const words = (store: Store, text: string, k: number) =>
    store.search.searchTerms!({ terms: countTerms(text), k, ...defaultSparse.bm25 });

  const [first] = models.values();
  const sparse: Retriever = {
    name: 'sparse',
    score: async (texts, queries, onTexts) => {
      const store = await fill(texts, first!);
      const found: Float64Array[] = [];
      for (const { text } of queries)
        found.push(byPlace(await words(store, text, texts.length), texts.length));
      onTexts(texts.length + queries.length);
      return found;
    },
  };
  const hybrids = [...models].map(([name, model]): Retriever => ({
    name: `hybrid ${name}`,
    score: async (texts, queries, onTexts) => {
      const k = texts.length;
      const store = await fill(texts, model);
      const asked = await embedTexts(model, queries, 'query', () => undefined);
      const found: Float64Array[] = [];
      for (const [at, { text }] of queries.entries()) {
        const near = await store.search.search({ space, vector: asked[at]!, k });
        found.push(byPlace(fuseByRank([near, await words(store, text, k)], k), k));
      }
      onTexts(texts.length + queries.length);
      return found;
    },
  }));
  return {
    retrievers: [sparse, ...hybrids],
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function chunkOf(text: string, ordinal: number): Chunk {
  const hash = textHash(text);
  return {
    id: new ChunkIds('eval').of('corpus', hash, ordinal),
    documentId: 'corpus',
    ordinal,
    start: 0,
    end: text.length,
    text,
    embeddedText: text,
    tokens: 0,
    hash,
    metadata: {},
    terms: countTerms(text),
  };
}

/** What was not found scores 0. */
function byPlace(hits: readonly SearchHit[], count: number): Float64Array {
  const scores = new Float64Array(count);
  for (const { ordinal, score } of hits) scores[ordinal] = score;
  return scores;
}
