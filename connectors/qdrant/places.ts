import type { HeadStore } from './head.js';
import { readLayout, type FoundLayout } from './layout.js';
import { collectionNames, type CollectionNames } from './names.js';
import type { QdrantPort } from './port.js';
import { checkServer } from './server-version.js';

/** Where a generation is kept, and what for. */
export interface Place extends FoundLayout {
  readonly generation: number;
  readonly names: CollectionNames;
}

export interface Places {
  names(generation: number): CollectionNames;
  /** What the collections of a generation were made for never changes, so it is asked for once. */
  at(generation: number, signal?: AbortSignal): Promise<Place | undefined>;
  /** Of the active generation, looked up each time; undefined where nobody prepared the pipeline. */
  active(signal?: AbortSignal): Promise<Place | undefined>;
}

export function createPlaces(port: QdrantPort, heads: HeadStore, prefix: string, pipeline: string): Places {
  const known = new Map<number, Place>();
  let checked = false;

  const places: Places = {
    names: (generation) => collectionNames(prefix, pipeline, generation),
    at: async (generation, signal) => {
      const there = known.get(generation);
      if (there !== undefined) return there;
      if (!checked) await checkServer(port, signal);
      checked = true;
      const names = places.names(generation);
      const layout = await readLayout(port, names, signal);
      if (layout === undefined) return undefined;
      const place = { ...layout, generation, names };
      known.set(generation, place);
      return place;
    },
    active: async (signal) => places.at((await heads.read(signal))?.active ?? 1, signal),
  };
  return places;
}
