import type { DocumentTransform } from '../contracts/document-transform.js';
import type { Document } from '../elements/document.js';
import type { ChunkIds } from '../elements/ids.js';
import { MillraceError } from '../errors/millrace-error.js';
import { addTerms } from '../transforms/terms/add-terms.js';
import type { BatchedSink } from './batched-sink.js';
import { chunkAndEmbed } from './chunk-and-embed.js';
import { stale, storedResult, touchedResult, type DocumentResult } from './document-result.js';
import type { Route } from './route.js';
import { contentOf, standingOf, type FirstLook } from './standing.js';
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
  readonly chunkIds: ChunkIds;
  readonly source: string;
  readonly chain: Chain;
  readonly sink: BatchedSink;
  readonly caps: DocumentCaps;
  readonly signal: AbortSignal;
}

/** How often a document is looked at again because the store changed between look and write. */
const maxLooks = 10;

/**
 * Brings one version of one document through the chain into the store.
 * @param first spares the first look, where somebody has looked already
 */
export async function processDocument(
  document: Document,
  context: DocumentTaskContext,
  trace: Trace,
  first?: FirstLook,
): Promise<DocumentResult> {
  const { chain, sink, source, signal } = context;
  let enriched = document;
  for (const transform of chain.enrich) {
    trace.stage = 'enrich';
    enriched = await transform.apply(enriched, signal, (stage) => (trace.stage = stage));
  }
  const key = { documentId: document.id, source, version: document.version, given: document };
  const content = first?.content ?? contentOf(enriched, chain);

  for (let look = 0; look < maxLooks; look += 1) {
    trace.stage = 'store';
    const entry = look === 0 && first !== undefined ? first.entry : await sink.ledger(document.id);
    const standing = standingOf(document, source, { content, entry });
    if (standing === 'stale') return stale;
    if (standing === 'held') {
      const touched = await sink.write({ kind: 'touch', ...key, ...content });
      if (touched.kind !== 'moved') return touchedResult(touched, entry, document);
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
    if (stored.kind !== 'moved') return storedResult(stored, chunks.length, embedded);
  }
  throw new MillraceError(
    'store_conflict',
    `The document ${JSON.stringify(document.id)} was changed by others ${maxLooks} times while it was being written.`,
  );
}
