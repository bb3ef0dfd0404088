import { z } from 'zod';
import type { Artifacts } from '../src/contracts/artifacts.js';
import type { Connector } from '../src/contracts/connector.js';
import type { Store } from '../src/contracts/store.js';

/** A store that takes everything and keeps nothing, so that a run shows the engine's own cost. */
export function createNullStore(): Store {
  const artifacts: Artifacts = {
    read: async () => undefined,
    insert: async (_name, value) => value,
    replace: async () => true,
  };
  return {
    sink: {
      ledger: async () => new Map(),
      heldChunks: async () => new Set(),
      write: async (writes) => writes.map(() => ({ kind: 'done', clearedFailure: false })),
      countUnnamed: async () => ({ stored: 0, unnamed: 0 }),
      listUnnamed: async () => [],
      listLedger: async () => [],
    },
    search: { search: async () => [], chunks: async (ranges) => ranges.map(() => []) },
    artifacts,
    memory: artifacts,
    prepare: async () => undefined,
    tune: async () => undefined,
    count: async () => ({ documents: 0, chunks: 0 }),
    close: async () => undefined,
  };
}

/** `sink: { nothing: {} }` */
export const nothing: Connector = {
  sink: { schema: z.strictObject({}), load: async () => async () => createNullStore() },
};
