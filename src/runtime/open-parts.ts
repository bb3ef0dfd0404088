import type { ConnectorContext, Clock } from '../contracts/context.js';
import type { FailedStore } from '../contracts/failed-store.js';
import type { Lookup, LookupCache } from '../contracts/lookup.js';
import type { ModelUpdates } from '../contracts/model-updates.js';
import type { Source } from '../contracts/source.js';
import type { Store } from '../contracts/store.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Releasers } from '../flow/releasers.js';
import type { Connectors } from '../config/schema.js';
import type { Report } from '../observability/events.js';
import type { ConnectorSpec, LookupSpec, PipelineSpec } from '../pipeline/spec.js';

export interface OpenContext {
  readonly connectors: Connectors;
  readonly clock: Clock;
  readonly report: Report;
  /** Takes the releaser of each part as soon as it exists. */
  readonly releasers: Releasers;
}

export async function openSource(spec: PipelineSpec, context: OpenContext): Promise<Source> {
  const factory = await load(spec.source, 'source', context);
  return factory(spec.source.config as never, connectorContext(spec, context));
}

export async function openStore(spec: PipelineSpec, context: OpenContext): Promise<Store> {
  const factory = await load(spec.sink, 'sink', context);
  const store = await factory(spec.sink.config as never, connectorContext(spec, context));
  context.releasers.push(() => store.close());
  return store;
}

export async function openFailedStore(spec: PipelineSpec, context: OpenContext): Promise<FailedStore> {
  const factory = await load(spec.failed, 'failed', context);
  const failed = await factory(spec.failed.config as never, connectorContext(spec, context));
  context.releasers.push(() => failed.close());
  return failed;
}

/** @param events where updates of models come from */
export async function openModelUpdates(
  events: ConnectorSpec,
  spec: PipelineSpec,
  context: OpenContext,
): Promise<ModelUpdates> {
  const factory = await load(events, 'updates', context);
  return factory(events.config as never, connectorContext(spec, context));
}

export async function openLookup(
  { from, concurrency }: LookupSpec,
  spec: PipelineSpec,
  context: OpenContext,
): Promise<Lookup> {
  const factory = await load(from, 'lookup', context);
  const lookup = await factory(from.config as never, { ...connectorContext(spec, context), concurrency });
  context.releasers.push(() => lookup.close());
  return lookup;
}

export async function openLookupCache(
  place: ConnectorSpec,
  spec: PipelineSpec,
  context: OpenContext,
): Promise<LookupCache> {
  const factory = await load(place, 'cache', context);
  const cache = await factory(place.config as never, connectorContext(spec, context));
  context.releasers.push(() => cache.close());
  return cache;
}

async function load<Name extends 'source' | 'sink' | 'failed' | 'updates' | 'lookup' | 'cache'>(
  { connector }: ConnectorSpec,
  name: Name,
  { connectors }: OpenContext,
) {
  const role = connectors[connector]?.[name];
  if (role === undefined)
    throw new MillraceError('config_invalid', `The connector "${connector}" cannot be used as ${name}.`);
  return role.load() as Promise<Awaited<ReturnType<NonNullable<Connectors[string][Name]>['load']>>>;
}

function connectorContext(spec: PipelineSpec, { clock, report }: OpenContext): ConnectorContext {
  return {
    pipeline: spec.name,
    baseFolder: spec.baseFolder,
    clock,
    notify: (notice) => report({ type: 'notice', ...notice }),
  };
}
