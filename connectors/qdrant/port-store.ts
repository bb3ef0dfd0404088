import type { ConnectorContext } from '../../src/contracts/context.js';
import type { Sink } from '../../src/contracts/sink.js';
import type { SpaceLayout, Store } from '../../src/contracts/store.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { qdrantArtifacts } from './artifacts.js';
import { beginFirstFill, endFirstFill } from './bulk.js';
import type { QdrantConfig } from './config.js';
import { chunkRanges } from './chunk-ranges.js';
import { createIdPages } from './id-pages.js';
import { heldChunks } from './held-chunks.js';
import { prepareArtifacts, prepareLayout, readLayout, type FoundLayout } from './layout.js';
import { collectionNames, documentKey } from './names.js';
import type { QdrantPort } from './port.js';
import { readLedger } from './read-ledger.js';
import { searchTerms } from './search-terms.js';
import { live, searchChunks } from './search.js';
import { checkServer } from './server-version.js';
import { sweepUnseen } from './sweep-unseen.js';
import { countUnnamed, unnamedScope } from './sweep.js';
import { writeDocuments } from './write.js';

const pointsPerRequest = 2000;

/** The store over any port. A store that nobody prepared reads as empty. */
export function createPortStore(
  port: QdrantPort,
  config: Omit<QdrantConfig, 'url' | 'apiKey' | 'timeout'>,
  { pipeline, clock }: ConnectorContext,
): Store {
  const names = collectionNames(config.prefix, pipeline);
  const bounds = { items: pointsPerRequest, bytes: config.maxRequestMb * 1e6 };
  const artifacts = qdrantArtifacts(port, names);
  const idPage = createIdPages(port, names.ledger);
  let checked = false;
  let layout: FoundLayout | undefined;

  /** What the pipeline was prepared for. It never changes, so it is asked for once. */
  async function found(signal?: AbortSignal): Promise<FoundLayout | undefined> {
    if (!checked) await checkServer(port, signal);
    checked = true;
    layout ??= await readLayout(port, names, signal);
    return layout;
  }

  async function entries(ids: readonly string[], signal?: AbortSignal) {
    const keys = ids.map((id) => documentKey(pipeline, id));
    const records = await readLedger(port, names, keys, signal);
    return keys.flatMap((key) => records.get(key)?.entry ?? []);
  }

  function named({ spaces }: FoundLayout, wanted: string): SpaceLayout {
    const space = spaces.find(({ name }) => name === wanted);
    if (space !== undefined) return space;
    throw new MillraceError(
      'store_layout',
      `Pipeline ${JSON.stringify(pipeline)} has no space ${JSON.stringify(wanted)} in this store.`,
      { hint: `It has ${spaces.map(({ name }) => JSON.stringify(name)).join(', ')}.` },
    );
  }

  const sink: Sink = {
    ledger: async (ids, signal) => {
      signal?.throwIfAborted();
      if (ids.length === 0 || (await found(signal)) === undefined) return new Map();
      return new Map((await entries(ids, signal)).map((entry) => [entry.documentId, entry]));
    },
    heldChunks: async (space, ids, signal) => {
      const there = ids.length === 0 ? undefined : await found(signal);
      if (!there?.spaces.some(({ name }) => name === space)) return new Set();
      return heldChunks(port, names, space, ids, signal);
    },
    write: async (writes, signal) => {
      signal?.throwIfAborted();
      if (writes.length === 0) return [];
      const there = await found(signal);
      if (there === undefined)
        throw new MillraceError(
          'store_layout',
          `Pipeline ${JSON.stringify(pipeline)} has no collections in this store.`,
          { hint: 'Prepare the store before the first write: `millrace run` does.' },
        );
      return writeDocuments({ port, names, pipeline, clock, bounds }, there.spaces, writes, signal);
    },
    countUnnamed: async (scope) => {
      if ((await found()) === undefined) return { stored: 0, unnamed: 0 };
      return countUnnamed(port, names.ledger, scope);
    },
    listUnnamed: async (scope, after, limit) => {
      if ((await found()) === undefined) return [];
      return idPage(unnamedScope(scope), after, limit);
    },
    listLedger: async (source, after, limit) => {
      if ((await found()) === undefined) return [];
      const filter = {
        must: [{ key: 'source', match: { value: source } }],
        must_not: [{ key: 'state', match: { value: 'deleted' } }],
      };
      const key = JSON.stringify(['ledger', source]);
      return entries(await idPage({ filter, accepts: () => true, key }, after, limit));
    },
  };

  return {
    sink,
    search: {
      search: async (query, signal) => {
        const there = await found(signal);
        return there === undefined ? [] : searchChunks(port, names, named(there, query.space), query, signal);
      },
      searchTerms: async (query, signal) => {
        const there = await found(signal);
        if (there === undefined || !there.terms) return [];
        for (const space of query.spaces ?? []) named(there, space);
        return searchTerms(port, names, query, signal);
      },
      chunks: async (ranges, signal) => {
        if (ranges.length === 0) return [];
        if ((await found(signal)) === undefined) return ranges.map(() => []);
        return chunkRanges(port, names, pipeline, ranges, signal);
      },
    },
    artifacts,
    memory: artifacts,
    prepare: async (wanted) => {
      await checkServer(port);
      await prepareArtifacts(port, names, clock);
      const bulk = await beginFirstFill(port, names, artifacts);
      await prepareLayout(port, names, { ...config, indexFrom: bulk ? 0 : config.indexFrom }, wanted, clock);
      layout = undefined;
    },
    tune: async (signal) => {
      if ((await found(signal)) === undefined) return;
      await sweepUnseen(port, names, signal);
      await endFirstFill(port, names, artifacts, { indexFrom: config.indexFrom, clock }, signal);
    },
    count: async () => {
      if ((await found()) === undefined) return { documents: 0, chunks: 0 };
      return {
        documents: await port.count(names.ledger, { must: [{ key: 'state', match: { value: 'stored' } }] }),
        chunks: await port.count(names.chunks, { must: [live] }),
      };
    },
    close: async () => {},
  };
}
