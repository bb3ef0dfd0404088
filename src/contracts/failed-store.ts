import type { FailedFilter, FailedKey, FailedRecord } from '../elements/failed-record.js';
import type { ConnectorContext } from './context.js';

export type * from '../elements/failed-record.js';

/**
 * Where failed elements wait for people. At most one record a document of a pipeline: a newer version's failure replaces
 * an older one's, the same version's adds its attempts and keeps `firstAt`.
 */
export interface FailedStore {
  /** Durable when it resolves. A place that cannot be reached refuses every call with `failed_sink_unavailable`. */
  put(records: readonly FailedRecord[]): Promise<void>;
  list(filter?: FailedFilter): AsyncIterable<FailedRecord>;
  get(documentId: string): Promise<FailedRecord | undefined>;
  /** Forgets the records of these documents up to and including the given versions. @returns how many */
  discard(keys: readonly FailedKey[]): Promise<number>;
  /** Forgets the records whose last failure was before this time (ISO 8601, UTC, milliseconds). @returns how many */
  expire(before: string): Promise<number>;
  close(): Promise<void>;
}

export type FailedStoreFactory<Config> = (config: Config, context: ConnectorContext) => Promise<FailedStore>;
