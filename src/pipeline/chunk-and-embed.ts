import type { LedgerEntry, SpaceVectors } from '../contracts/sink.js';
import type { Chunk } from '../elements/chunk.js';
import type { Document } from '../elements/document.js';
import type { ChunkIds } from '../elements/ids.js';
import { MillraceError } from '../errors/millrace-error.js';
import { checkVector } from '../inference/check-vector.js';
import type { Chunker, EmbeddedPassages } from '../transforms/chunk/pooled-chunker.js';
import type { BatchedSink } from './batched-sink.js';
import { embedChunks } from './embed-chunks.js';
import { makeChunks } from './make-chunks.js';
import type { Route } from './route.js';
import type { Trace } from './trace.js';

export interface ChunkAndEmbedOptions {
  readonly route: Route;
  readonly context: {
    readonly chunkIds: ChunkIds;
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
  const { chunkAndEmbed: inPlace } = options.route.chunker;
  return inPlace !== undefined && embedsInPlace(options.route, entry)
    ? embedAll(document, inPlace, options)
    : embedMissing(document, mayHold(entry), options);
}

/** Whether a document goes from text to vectors in one call: where no vector could be kept. */
export function embedsInPlace({ chunker, inferChunks }: Route, entry: LedgerEntry | undefined): boolean {
  return chunker.chunkAndEmbed !== undefined && inferChunks.length === 0 && !mayHold(entry);
}

function mayHold(entry: LedgerEntry | undefined): boolean {
  return entry !== undefined && entry.chunkCount > 0;
}

async function embedAll(
  document: Document,
  chunkAndEmbed: NonNullable<Chunker['chunkAndEmbed']>,
  options: ChunkAndEmbedOptions,
): Promise<EmbeddedChunks> {
  options.trace.stage = 'chunk';
  const [found] = await chunkAndEmbed([document.text]);
  return nameEmbedded(document, found!, options);
}

/** The chunks of a document that was chunked and embedded in one. @throws MillraceError where that failed */
export function nameEmbedded(
  document: Document,
  found: EmbeddedPassages | Error,
  { route, context, trace }: ChunkAndEmbedOptions,
): EmbeddedChunks {
  const { space, width } = route.lanes[0]!;
  trace.stage = 'chunk';
  if (found instanceof Error) throw found;
  const { passages, vectors } = found;
  checkCount(document, passages.length, context.caps.maxChunks);
  trace.stage = 'embed';
  for (let at = 0; at < passages.length; at += 1) {
    const error = checkVector(vectors[at], width);
    if (error !== undefined) throw error;
  }
  const chunks = makeChunks(context.chunkIds, document, passages);
  return { chunks, spaces: [{ space, vectors }], embedded: chunks.length };
}

async function embedMissing(
  document: Document,
  someHeld: boolean,
  { route, context, trace }: ChunkAndEmbedOptions,
): Promise<EmbeddedChunks> {
  const { chunker, inferChunks, lanes } = route;
  trace.stage = 'chunk';
  let found = await chunker.chunk(document.text);
  checkCount(document, found.passages.length, context.caps.maxChunks);
  for (const infer of inferChunks) found = await infer(document, found, (stage) => (trace.stage = stage));
  const { passages, ids } = found;
  const chunks = makeChunks(context.chunkIds, document, passages);
  trace.stage = 'embed';
  const { spaces, embedded } = await embedChunks(chunks, {
    ids,
    mayHold: someHeld,
    lanes,
    sink: context.sink,
  });
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
