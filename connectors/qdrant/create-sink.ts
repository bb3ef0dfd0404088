import type { Clock } from '../../src/contracts/context.js';
import type { Sink } from '../../src/contracts/sink.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { heldChunks } from './held-chunks.js';
import { createIdPages } from './id-pages.js';
import { documentKey } from './names.js';
import type { Place } from './places.js';
import type { QdrantPort } from './port.js';
import { readLedger } from './read-ledger.js';
import type { Tell } from './settle.js';
import { countUnnamed, unnamedScope } from './sweep.js';
import type { RequestBounds } from './upload.js';
import { writeDocuments, type Writer } from './write.js';

/** What a sink may do to its generation, and who is told of it. */
export interface WriteRole {
  /** Tells of changes that somebody else made and did not tell of. */
  tell(place: Place): Tell;
  /** @throws MillraceError `generation_moved` where the generation may not be written */
  during<T>(
    place: Place,
    signal: AbortSignal | undefined,
    work: (writer: Pick<Writer, 'look' | 'tell'>) => Promise<T>,
  ): Promise<T>;
}

export interface SinkParts {
  readonly port: QdrantPort;
  readonly pipeline: string;
  readonly clock: Clock;
  readonly bounds: RequestBounds;
  readonly role: WriteRole;
  /** The generation that is written; undefined while nobody prepared it. */
  locate(signal?: AbortSignal): Promise<Place | undefined>;
}

/** The ledger and the chunks of a generation, as a sink. */
export function createQdrantSink({ port, pipeline, clock, bounds, role, locate }: SinkParts): Sink {
  let pages: { readonly ledger: string; readonly page: ReturnType<typeof createIdPages> } | undefined;

  function pagesOf({ names: { ledger } }: Place): ReturnType<typeof createIdPages> {
    if (pages?.ledger !== ledger) pages = { ledger, page: createIdPages(port, ledger) };
    return pages.page;
  }

  async function entries(place: Place, ids: readonly string[], signal?: AbortSignal) {
    const keys = ids.map((id) => documentKey(pipeline, id));
    const records = await readLedger(port, place.names, keys, role.tell(place), signal);
    return keys.flatMap((key) => records.get(key)?.entry ?? []);
  }

  return {
    ledger: async (ids, signal) => {
      signal?.throwIfAborted();
      const place = ids.length === 0 ? undefined : await locate(signal);
      if (place === undefined) return new Map();
      return new Map((await entries(place, ids, signal)).map((entry) => [entry.documentId, entry]));
    },
    heldChunks: async (space, ids, signal) => {
      const place = ids.length === 0 ? undefined : await locate(signal);
      if (!place?.spaces.some(({ name }) => name === space)) return new Set();
      return heldChunks(port, place.names, space, ids, signal);
    },
    write: async (writes, signal) => {
      signal?.throwIfAborted();
      if (writes.length === 0) return [];
      const place = await locate(signal);
      if (place === undefined) throw notPrepared(pipeline);
      const { names, spaces } = place;
      return role.during(place, signal, (told) =>
        writeDocuments({ port, names, pipeline, clock, bounds, ...told }, spaces, writes, signal),
      );
    },
    countUnnamed: async (scope) => {
      const place = await locate();
      if (place === undefined) return { stored: 0, unnamed: 0 };
      return countUnnamed(port, place.names.ledger, scope);
    },
    listUnnamed: async (scope, after, limit) => {
      const place = await locate();
      return place === undefined ? [] : pagesOf(place)(unnamedScope(scope), after, limit);
    },
    listLedger: async (source, after, limit) => {
      const place = await locate();
      if (place === undefined) return [];
      const filter = {
        must: [{ key: 'source', match: { value: source } }],
        must_not: [{ key: 'state', match: { value: 'deleted' } }],
      };
      const key = JSON.stringify(['ledger', source]);
      return entries(place, await pagesOf(place)({ filter, accepts: () => true, key }, after, limit));
    },
  };
}

function notPrepared(pipeline: string): MillraceError {
  return new MillraceError(
    'store_layout',
    `Pipeline ${JSON.stringify(pipeline)} has no collections in this store.`,
    { hint: 'Prepare the store before the first write: `millrace run` does.' },
  );
}
