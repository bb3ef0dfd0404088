import type { LedgerEntry, Sink } from '../../contracts/sink.js';
import type { PassScope, Source } from '../../contracts/source.js';
import { contentHash } from '../../elements/hash.js';
import type { SourceElement } from '../../elements/document.js';
import { chunked } from '../../flow/chunked.js';
import { BucketDigests, bucketOf } from './bucket-digests.js';
import { differenceOf, isSame, type Difference, type SourceSide } from './difference.js';
import { readWhole } from './read-whole.js';

export interface CompareOptions {
  /** Each reading of the source is another one. */
  openSource(): Promise<Source>;
  readonly sink: Sink;
  readonly compareContent: boolean;
  readonly maxItemBytes: number;
  readonly signal: AbortSignal;
}

export interface Comparison {
  /** Documents that the source has, and that the store holds of it. */
  readonly inSource: number;
  readonly stored: number;
  readonly differences: readonly Difference[];
}

const page = 2_000;

/**
 * Compares a source with the ledger of its store by digests of buckets, then looks at each document of the buckets that
 * differ, and once more at those that differ: what is still so, in the same state, is no change on its way.
 */
export async function compare(options: CompareOptions): Promise<Comparison> {
  const { compareContent } = options;
  const [ours, theirs] = [new BucketDigests(), new BucketDigests()];
  const name = await readSource(options, ({ id }, side) =>
    ours.add(id, side === 'unreadable' ? side : compareContent ? side.hash : ''),
  );
  let stored = 0;
  for await (const entry of ledgerOf(options, name)) {
    if (entry.state === 'stored') stored += 1;
    if (entry.state === 'stored' && entry.failedVersion === undefined)
      theirs.add(entry.documentId, compareContent ? entry.contentHash! : '');
    // Never equal to what the source says: it is looked at.
    else theirs.add(entry.documentId, 'failed');
  }
  const suspect = ours.differing(theirs);
  const counts = { inSource: ours.count, stored };
  if (suspect.size === 0) return { ...counts, differences: [] };
  const first = await lookAt(options, (id) => suspect.has(bucketOf(id)));
  if (first.size === 0) return { ...counts, differences: [] };
  const second = await lookAt(options, (id) => first.has(id));
  return {
    ...counts,
    differences: [...first.values()].filter((difference) =>
      isSame(difference, second.get(difference.documentId)),
    ),
  };
}

/** @returns the name of the source */
async function readSource(
  { openSource, signal, maxItemBytes }: CompareOptions,
  see: (element: SourceElement, side: SourceSide) => void,
  onScope: (scope: PassScope) => void = () => undefined,
): Promise<string> {
  const source = await openSource();
  for await (const element of readWhole(source, { signal, maxItemBytes, onScope })) {
    if (element.kind === 'document') see(element, { hash: contentHash(element) });
    else if (element.kind === 'unreadable') see(element, 'unreadable');
  }
  return source.name;
}

async function* ledgerOf({ sink, signal }: CompareOptions, source: string): AsyncGenerator<LedgerEntry> {
  for (let after: string | undefined; ;) {
    signal.throwIfAborted();
    const entries = await sink.listLedger(source, after, page);
    if (entries.length === 0) return;
    after = entries.at(-1)!.documentId;
    yield* entries;
  }
}

async function lookAt(
  options: CompareOptions,
  wanted: (id: string) => boolean,
): Promise<Map<string, Difference>> {
  const here = new Map<string, SourceSide>();
  const scopes: PassScope[] = [];
  const name = await readSource(
    options,
    // An id may come twice: the last one counts.
    ({ id }, side) => void (wanted(id) && here.set(id, side)),
    (scope) => scopes.push(scope),
  );
  const there = new Map<string, LedgerEntry>();
  for await (const entry of ledgerOf(options, name))
    if (wanted(entry.documentId)) there.set(entry.documentId, entry);
  // Deleted ones, and those of another source, are not in its list.
  const unlisted = [...here.keys()].filter((id) => !there.has(id));
  for (const ids of chunked(unlisted, page))
    for (const [id, entry] of await options.sink.ledger(ids, options.signal)) there.set(id, entry);
  const found = new Map<string, Difference>();
  for (const id of new Set([...here.keys(), ...there.keys()])) {
    const difference = differenceOf(id, here.get(id), there.get(id), options.compareContent);
    if (difference === undefined) continue;
    // Nobody knows what there is in a place that could not be read.
    if (difference.kind === 'orphaned' && !scopes.every((scope) => isWithin(id, scope))) continue;
    found.set(id, difference);
  }
  return found;
}

function isWithin(id: string, { prefix, except }: PassScope): boolean {
  return id.startsWith(prefix) && !except.some((outside) => id.startsWith(outside));
}
