import type { Clock } from '../../contracts/context.js';
import type { Lookup, LookupCache, LookupRow } from '../../contracts/lookup.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { Batcher } from '../../flow/batcher.js';
import { retry } from '../../flow/retry.js';
import type { Report } from '../../observability/events.js';
import { createCall, type Answers } from './call-lookup.js';

export interface AskOptions {
  readonly lookup: Lookup;
  /** Name of the step: of its lane too. */
  readonly name: string;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly rps?: number | undefined;
  readonly cache?: AskCache | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

export interface AskCache {
  /** One that never fails. */
  readonly store: LookupCache;
  /** Put before each key, so that look-ups can share a place. */
  readonly prefix: string;
  readonly ttlMs: number;
  /** How long it is remembered that there is no row. */
  readonly negativeTtlMs: number;
}

/** The row of a key, undefined where there is none. */
export type Ask = (key: string) => Promise<LookupRow | undefined>;

const cacheReads = { maxItems: 500, concurrency: 4 };

/**
 * Asks for the keys of many documents together. Who asks for a key that is under way waits for the same answer; what the
 * cache holds is not asked for. A call that fails is made again, then divided until the key that fails is alone; an outage
 * is waited out.
 */
export function createAsk(options: AskOptions): Ask {
  const { lookup, name, concurrency, cache, clock, signal, report } = options;
  const call = createCall(options);
  const flights = new Map<string, Promise<LookupRow | undefined>>();
  const batchSize = Math.min(options.batchSize, lookup.maxKeys);
  const batcher = new Batcher<string, LookupRow | undefined>({
    run: (keys) => find(keys),
    cost: () => 1,
    maxCost: batchSize,
    maxItems: batchSize,
    concurrency,
  });
  const reads = new Batcher<string, string | undefined>({
    run: (keys) => cache!.store.get(keys, signal) as Promise<(string | undefined)[]>,
    cost: () => 1,
    maxCost: cacheReads.maxItems,
    ...cacheReads,
  });

  async function find(keys: readonly string[]): Promise<(LookupRow | undefined | Error)[]> {
    let failures = 0;
    const began = clock.now();
    const rows = await retry(
      async () => {
        try {
          return await call(keys);
        } catch (thrown) {
          const error = MillraceError.from(thrown);
          failures += 1;
          // Twice by a service that answers others: the fault is in one of these keys.
          if (error.code === 'remote_failed' && keys.length > 1 && failures > 1) throw divided(error);
          throw error;
        }
      },
      {
        clock,
        signal,
        onRetry: (event) => report({ type: 'retry', lane: name, ...event }),
        onRecovered: () => report({ type: 'recovered', lane: name }),
      },
    );
    report({ type: 'batch', lane: name, items: keys.length, cost: keys.length, ms: clock.now() - began });
    await remember(keys, rows);
    return [...rows];
  }

  async function remember(keys: readonly string[], rows: Answers): Promise<void> {
    if (cache === undefined) return;
    const { store, prefix, ttlMs, negativeTtlMs } = cache;
    const entries = keys.flatMap((key, at) => {
      const row = rows[at];
      if (row instanceof Error) return [];
      const lasts = row === undefined ? negativeTtlMs : ttlMs;
      // In a list, since JSON has no undefined.
      return [{ key: prefix + key, value: JSON.stringify(row === undefined ? [] : [row]), ttlMs: lasts }];
    });
    const lasting = entries.filter(({ ttlMs }) => ttlMs > 0);
    if (lasting.length > 0) await store.set(lasting, signal);
  }

  async function ask(key: string): Promise<LookupRow | undefined> {
    const known = cache && remembered(await reads.submit(cache.prefix + key));
    return known === undefined ? batcher.submit(key) : known[0];
  }

  return (key) => {
    const underWay = flights.get(key);
    if (underWay !== undefined) return underWay;
    const flight = ask(key).finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
}

/** @returns a list with the row, or an empty one where it is known that there is none; undefined when nothing is known */
function remembered(value: string | undefined): readonly LookupRow[] | undefined {
  if (value === undefined) return undefined;
  try {
    const held: unknown = JSON.parse(value);
    return Array.isArray(held) ? (held as LookupRow[]) : undefined;
  } catch {
    return undefined;
  }
}

function divided(error: MillraceError): MillraceError {
  return new MillraceError('transform_failed', error.message, {
    cause: error.cause,
    ...(error.hint !== undefined && { hint: error.hint }),
  });
}
