import type { LedgerEntry, SpaceVectors } from '../contracts/sink.js';
import type { Chunk } from '../elements/chunk.js';
import type { Document } from '../elements/document.js';
import { MillraceError } from '../errors/millrace-error.js';
import { checkVector } from '../inference/check-vector.js';
import type { EmbeddedPassages } from '../transforms/chunk/pooled-chunker.js';
import type { BatchedSink } from './batched-sink.js';
import { embedChunks } from './embed-chunks.js';
import { makeChunks } from './make-chunks.js';
import type { Route } from './route.js';
import type { Trace } from './trace.js';

export interface ChunkAndEmbedOptions {
  readonly route: Route;
  readonly context: {
    readonly pipeline: string;
    readonly sink: Pick<BatchedSink, 'held'>;
    /** Chunks of a document at most. */
    readonly caps: { readonly maxChunks: number };
  };
  readonly trace: Pick<Trace, 'stage'>;
}

export interface EmbeddedChunks {
  readonly chunks: readonly Chunk[];
  /** The vectors in each space of the route; undefined where the store holds them. */
  readonly spaces: readonly SpaceVectors[];
  /** How many texts went through a model. */
  readonly embedded: number;
}

/** The chunks of a document, and their vectors by all models of its route. */
export async function chunkAndEmbed(
  document: Document,
  entry: LedgerEntry | undefined,
  options: ChunkAndEmbedOptions,
): Promise<EmbeddedChunks> {
  const { chunker, inferChunks } = options.route;
  const mayHold = entry !== undefined && entry.chunkCount > 0;
  return mayHold || chunker.chunkAndEmbed === undefined || inferChunks.length > 0
    ? embedMissing(document, mayHold, options)
    : embedAll(document, chunker.chunkAndEmbed, options);
}

async function embedAll(
  document: Document,
  chunkAndEmbed: (text: string) => Promise<EmbeddedPassages>,
  { route, context, trace }: ChunkAndEmbedOptions,
): Promise<EmbeddedChunks> {
  const { space, width } = route.lanes[0]!;
  trace.stage = 'chunk';
  const { passages, vectors } = await chunkAndEmbed(document.text);
  checkCount(document, passages.length, context.caps.maxChunks);
  trace.stage = 'embed';
  for (let at = 0; at < passages.length; at += 1) {
    const error = checkVector(vectors[at], width);
    if (error !== undefined) throw error;
  }
  const chunks = makeChunks(context.pipeline, document, passages);
  return { chunks, spaces: [{ space, vectors }], embedded: chunks.length };
}

async function embedMissing(
  document: Document,
  mayHold: boolean,
  { route, context, trace }: ChunkAndEmbedOptions,
): Promise<EmbeddedChunks> {
  const { chunker, inferChunks, lanes } = route;
  trace.stage = 'chunk';
  let found = await chunker.chunk(document.text);
  checkCount(document, found.passages.length, context.caps.maxChunks);
  for (const infer of inferChunks) found = await infer(document, found, (stage) => (trace.stage = stage));
  const { passages, ids } = found;
  const chunks = makeChunks(context.pipeline, document, passages);
  trace.stage = 'embed';
  const { spaces, embedded } = await embedChunks(chunks, { ids, mayHold, lanes, sink: context.sink });
  return { chunks, spaces, embedded };
}

function checkCount({ id }: Document, chunks: number, maxChunks: number): void {
  if (chunks <= maxChunks) return;
  throw new MillraceError(
    'item_too_large',
    `The document ${JSON.stringify(id)} has ${chunks} chunks; at most ${maxChunks} are allowed.`,
    { hint: 'Split the document, or raise limits.maxChunks.' },
  );
}
