import { createHash } from 'node:crypto';
import type { Lookup, LookupCache } from '../contracts/lookup.js';
import type { DocumentTransform } from '../contracts/document-transform.js';
import { canonicalJson } from '../elements/canonical-json.js';
import type { LookupSpec, PipelineSpec } from '../pipeline/spec.js';
import { createAsk, type AskCache } from '../transforms/lookup/ask.js';
import { createCarefulCache } from '../transforms/lookup/careful-cache.js';
import { createLookupStep } from '../transforms/lookup/lookup-step.js';
import { openLookup, openLookupCache, type OpenContext } from './open-parts.js';

/** The look-ups of a chain, in their order. */
export function lookupSteps({ documentSteps }: PipelineSpec): readonly LookupSpec[] {
  return documentSteps.flatMap(({ lookup }) => lookup ?? []);
}

/** What the look-ups ask, and where they keep answers; opened and not yet connected. */
export type Lookups = ReadonlyMap<
  LookupSpec,
  { readonly lookup: Lookup; readonly cache: AskCache | undefined }
>;

export async function openLookups(
  spec: PipelineSpec,
  context: OpenContext,
  signal: AbortSignal,
): Promise<Lookups> {
  const opened = new Map<LookupSpec, { lookup: Lookup; cache: AskCache | undefined }>();
  for (const step of lookupSteps(spec))
    opened.set(step, {
      lookup: await openLookup(step, spec, context),
      cache: await openCache(step, spec, context, signal),
    });
  return opened;
}

export function wireLookup(
  step: LookupSpec,
  lookups: Lookups,
  { clock, report }: OpenContext,
  signal: AbortSignal,
): DocumentTransform {
  const { lookup, cache } = lookups.get(step)!;
  return createLookupStep({ ...step, ask: createAsk({ ...step, lookup, cache, clock, signal, report }) });
}

async function openCache(
  { name, from, describes, cache }: LookupSpec,
  spec: PipelineSpec,
  context: OpenContext,
  signal: AbortSignal,
): Promise<AskCache | undefined> {
  if (cache === undefined) return undefined;
  const { place, entries, ttlMs, negativeTtlMs } = cache;
  const { clock, report } = context;
  let store: LookupCache;
  if (place === undefined) {
    // Loaded when it is asked for, as drivers are.
    const { createMemoryCache } = await import('../transforms/lookup/row-cache.js');
    store = createMemoryCache(entries, clock);
  } else {
    const remote = await openLookupCache(place, spec, context);
    store = createCarefulCache({ cache: remote, name, clock, signal, report });
  }
  // Rows of another query are other rows. No address goes in: it may hold a password.
  const asked = canonicalJson({ pipeline: spec.name, step: name, from: from.connector, describes });
  const digest = createHash('sha256').update(asked).digest('hex').slice(0, 16);
  return { store, prefix: `${digest}:`, ttlMs, negativeTtlMs };
}
