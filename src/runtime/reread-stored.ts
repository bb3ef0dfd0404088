import type { Clock } from '../contracts/context.js';
import type { KeptTexts } from '../contracts/kept-texts.js';
import type { LedgerEntry, Sink } from '../contracts/sink.js';
import type { Delivery, ElementsDelivery, Source, SourceContext } from '../contracts/source.js';
import { retry } from '../flow/retry.js';
import type { Report } from '../observability/events.js';
import { createPatientSink } from '../pipeline/patient-sink.js';
import { mergeDeliveries } from './merge-deliveries.js';

export interface RereadStoredOptions {
  readonly source: Source;
  readonly sink: Sink;
  readonly texts: KeptTexts;
  readonly clock: Clock;
  readonly report: Report;
}

const documentsAtOnce = 64;
/** Of the documents that are held at once. */
const chunksAtOnce = 2_000;

/**
 * A source that cannot be read again, with what its store keeps of it: while it is watched, every stored document is
 * handed over anew so often, under the version that it has, so that any newer one wins.
 */
export function rereadStored(options: RereadStoredOptions): Source {
  const { source } = options;
  return {
    ...source,
    rereads: true,
    deliveries: (context) => {
      const over = new AbortController();
      const both = { ...context, signal: AbortSignal.any([context.signal, over.signal]) };
      const end = () => over.abort();
      return mergeDeliveries(source.deliveries(both), storedDeliveries(options, both), end);
    },
  };
}

async function* storedDeliveries(
  options: RereadStoredOptions,
  { signal, watch, rereadEveryMs }: SourceContext,
): AsyncGenerator<Delivery> {
  if (!watch || rereadEveryMs === undefined) return;
  while (!signal.aborted) {
    await options.clock.sleep(rereadEveryMs, signal).catch(() => undefined);
    yield* onePass(options, signal);
  }
}

async function* onePass(
  { source: { name }, sink, texts, clock, report }: RereadStoredOptions,
  signal: AbortSignal,
): AsyncGenerator<ElementsDelivery> {
  const patient = createPatientSink({ sink, clock, signal, report });
  let after: string | undefined;
  while (!signal.aborted) {
    const entries = await patient.listLedger(name, after, documentsAtOnce);
    if (entries.length === 0) return;
    after = entries.at(-1)!.documentId;
    for (const group of groupsOf(entries)) {
      if (signal.aborted) return;
      const ids = group.map(({ documentId }) => documentId);
      const given = await retry(() => texts.read(ids, signal), { clock, signal });
      const elements = group.flatMap(({ documentId: id, version }) => {
        const content = given.get(id);
        if (content === undefined || version === undefined) return [];
        return [{ kind: 'document', id, version, ...content } as const];
      });
      if (elements.length > 0) yield { kind: 'elements', elements, settle: () => Promise.resolve() };
    }
  }
}

function groupsOf(entries: readonly LedgerEntry[]): LedgerEntry[][] {
  const groups: LedgerEntry[][] = [];
  let chunks = Infinity;
  for (const entry of entries) {
    if (entry.state !== 'stored') continue;
    if (chunks + entry.chunkCount > chunksAtOnce) {
      groups.push([]);
      chunks = 0;
    }
    groups.at(-1)!.push(entry);
    chunks += entry.chunkCount;
  }
  return groups;
}
