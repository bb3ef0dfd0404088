import type { DocumentTransform } from '../contracts/document-transform.js';
import type { LedgerEntry } from '../contracts/sink.js';
import type { Document } from '../elements/document.js';
import { contentHash } from '../elements/hash.js';
import type { Outcome } from '../elements/outcome.js';
import { laterVersion } from '../elements/version.js';
import { MillraceError } from '../errors/millrace-error.js';
import { addTerms } from '../transforms/terms/add-terms.js';
import type { BatchedSink } from './batched-sink.js';
import { chunkAndEmbed } from './chunk-and-embed.js';
import { holds } from './holds.js';
import type { Route } from './route.js';
import type { Trace } from './trace.js';

/** The chain of a pipeline, wired: what a document goes through. */
export interface Chain {
  readonly enrich: readonly DocumentTransform[];
  /** The way of a document from chunker to vectors. @throws MillraceError `route_unknown` */
  route(document: Document): Route;
  /** Chunks are kept with their words. */
  readonly keepsTerms: boolean;
  /** Digest of everything that decides what the chain makes of a document. */
  readonly digest: string;
}

export interface DocumentCaps {
  /** A document with more chunks is a failed element. */
  readonly maxChunks: number;
}

export interface DocumentTaskContext {
  readonly pipeline: string;
  readonly source: string;
  readonly chain: Chain;
  readonly sink: BatchedSink;
  readonly caps: DocumentCaps;
  readonly signal: AbortSignal;
}

export type DocumentResult = { readonly outcome: Outcome; readonly clearedFailure: boolean };

/** How often a document is looked at again because the store changed between look and write. */
const maxLooks = 10;

/** Brings one version of one document through the chain into the store. */
export async function processDocument(
  document: Document,
  context: DocumentTaskContext,
  trace: Trace,
): Promise<DocumentResult> {
  const { chain, sink, source, signal } = context;
  let enriched = document;
  for (const transform of chain.enrich) {
    trace.stage = 'enrich';
    enriched = await transform.apply(enriched, signal, (stage) => (trace.stage = stage));
  }
  const key = { documentId: document.id, source, version: document.version, given: document };
  const content = { contentHash: contentHash(enriched), chainDigest: chain.digest };

  for (let look = 0; look < maxLooks; look += 1) {
    trace.stage = 'store';
    const entry = await sink.ledger(document.id);
    if (entry !== undefined && entry.source !== source) throw ownedByAnother(entry, source);
    if (isNewer(entry, document)) return { outcome: { kind: 'stale' }, clearedFailure: false };
    if (holds(entry, content)) {
      const touched = await sink.write({ kind: 'touch', ...key, ...content });
      if (touched.kind === 'done')
        return { outcome: { kind: 'unchanged' }, clearedFailure: touched.clearedFailure };
      // The very version that the store holds already: nothing to raise.
      if (touched.kind === 'stale')
        return {
          outcome: { kind: entry?.version === key.version ? 'unchanged' : 'stale' },
          clearedFailure: false,
        };
      continue;
    }
    trace.stage = 'embed';
    const route = chain.route(enriched);
    trace.route = route;
    const { chunks, spaces, embedded } = await route.run(enriched.text.length, () =>
      chunkAndEmbed(enriched, entry, { route, context, trace }),
    );
    const written = chain.keepsTerms ? await addTerms(chunks, signal) : chunks;
    trace.stage = 'store';
    const stored = await sink.write({ kind: 'store', ...key, ...content, chunks: written, spaces });
    if (stored.kind === 'stale') return { outcome: { kind: 'stale' }, clearedFailure: false };
    if (stored.kind === 'done')
      return {
        outcome: { kind: 'stored', chunks: chunks.length, embedded },
        clearedFailure: stored.clearedFailure,
      };
  }
  throw new MillraceError(
    'store_conflict',
    `The document ${JSON.stringify(document.id)} was changed by others ${maxLooks} times while it was being written.`,
  );
}

/** Versions of two sources cannot be compared: a foreign document is refused before anything is made of it. */
function ownedByAnother({ documentId, source: owner }: LedgerEntry, source: string): MillraceError {
  return new MillraceError(
    'owner_mismatch',
    `Document ${JSON.stringify(documentId)} is owned by source ${JSON.stringify(owner)}, not ${JSON.stringify(source)}.`,
    { hint: 'Give the sources different ids, or write them to different pipelines.' },
  );
}

function isNewer(entry: LedgerEntry | undefined, { version }: Document): boolean {
  const known = laterVersion(entry?.version, entry?.failedVersion);
  return known !== undefined && known > version;
}
