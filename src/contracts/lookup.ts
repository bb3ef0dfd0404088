import type { Json, Metadata } from '../elements/metadata.js';
import type { ConnectorContext } from './context.js';

/** What a look-up found under a key: fields by name. */
export type LookupRow = Metadata;

/** A service that is asked for rows by key. Connects at its first use. */
export interface Lookup {
  /** Keys of one call at most. */
  readonly maxKeys: number;
  /**
   * Asked for up to `concurrency` calls at a time, with distinct keys, none of them empty.
   * @returns for each key, in their order, its row, undefined where there is none, or an Error that concerns this key alone
   * @param signal aborts when the run gives up or the call takes too long: what is under way is cut off
   * @throws MillraceError when no key was answered: `remote_unavailable` (not reached), `remote_refused`, `rate_limited`,
   * `remote_failed` (reached, and failed on this call), `transform_failed` (this call is wrong: it is divided until a
   * key is alone), `config_invalid` (no call can be right)
   */
  find(keys: readonly string[], signal: AbortSignal): Promise<readonly (LookupRow | undefined | Error)[]>;
  /** The smallest call there is. @throws MillraceError `remote_unavailable` when nobody answers */
  probe(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface LookupContext extends ConnectorContext {
  /** Calls under way at once; a probe may come on top. */
  readonly concurrency: number;
}

export type LookupFactory<Config> = (config: Config, context: LookupContext) => Promise<Lookup>;

/** Gives what of a configuration decides the rows, for the chain's digest: no address, no secret, no limit. */
export type DescribeLookup<Config> = (config: Config) => Json;

/** Keeps answers of look-ups outside this process. It may forget anything at any time. */
export interface LookupCache {
  /** One value a key, in their order; undefined where there is none. */
  get(keys: readonly string[], signal: AbortSignal): Promise<readonly (string | undefined)[]>;
  set(entries: readonly CacheEntry[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface CacheEntry {
  readonly key: string;
  readonly value: string;
  /** How long it may be given out, in ms. */
  readonly ttlMs: number;
}

export type LookupCacheFactory<Config> = (config: Config, context: ConnectorContext) => Promise<LookupCache>;
