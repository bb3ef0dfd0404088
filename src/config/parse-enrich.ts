import type { Connector } from '../contracts/connector.js';
import type { CacheSpec, DocumentStepSpec } from '../pipeline/spec.js';
import type { EnrichInput, LookupSettings } from './enrich-schema.js';

type Connectors = { readonly [name: string]: Connector };

const defaultTimeoutMs = 10_000;

/** @param step without problems */
export function enrichStepSpec(step: EnrichInput, connectors: Connectors): DocumentStepSpec {
  const { name, version, batch, batchSize, concurrency, refreshEvery: refreshEveryMs } = step;
  if (batch !== undefined)
    return { enrich: { name: name!, version, batch, batchSize, concurrency, refreshEveryMs } };
  const [connector, settings] = Object.entries(step).find(
    ([key, value]) => connectors[key]?.lookup !== undefined && value !== undefined,
  ) as [string, LookupSettings];
  const { key, ...config } = settings;
  return {
    lookup: {
      name: name ?? `${connector}:${key}`,
      version,
      from: { connector, config },
      describes: connectors[connector]!.lookup!.describe(config as never),
      key,
      fields: step.fields ?? 'all',
      join: step.join ?? 'right',
      into: step.into,
      missing: step.missing ?? 'skip',
      template: step.template,
      metadata: step.metadata ?? true,
      cache: step.cache && cacheSpec(step.cache),
      timeoutMs: step.timeout ?? defaultTimeoutMs,
      rps: step.rps,
      batchSize,
      concurrency,
      refreshEveryMs,
    },
  };
}

function cacheSpec({ ttl, negativeTtl, entries, ...places }: NonNullable<EnrichInput['cache']>): CacheSpec {
  const [place] = Object.entries(places).filter(([, config]) => config !== undefined);
  return {
    ttlMs: ttl,
    negativeTtlMs: negativeTtl ?? Math.ceil(ttl / 10),
    entries,
    place: place && { connector: place[0], config: place[1] },
  };
}
