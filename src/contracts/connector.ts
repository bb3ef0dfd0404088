import type { z } from 'zod';
import type { FailedStoreFactory } from './failed-store.js';
import type { DescribeLookup, LookupCacheFactory, LookupFactory } from './lookup.js';
import type { ModelUpdatesFactory } from './model-updates.js';
import type { SourceFactory } from './source.js';
import type { StoreFactory } from './store.js';

/** A connector as the registry lists it: its configuration per role, and how to load the code of that role when asked. */
export interface Connector {
  readonly source?: Role<SourceFactory<never>>;
  readonly sink?: Role<StoreFactory<never>>;
  readonly failed?: Role<FailedStoreFactory<never>>;
  readonly updates?: Role<ModelUpdatesFactory<never>>;
  readonly lookup?: LookupRole;
  readonly cache?: Role<LookupCacheFactory<never>>;
}

export interface LookupRole extends Role<LookupFactory<never>> {
  readonly schema: z.ZodObject;
  readonly describe: DescribeLookup<never>;
}

export interface Role<Factory> {
  readonly schema: z.ZodType;
  /** Imports the driver: called only when the configuration names this connector in this role. */
  load(): Promise<Factory>;
}
