import type { EmbedText } from '../contracts/embedding-model.js';
import type { Stage } from '../contracts/failed-store.js';
import type { ChunkWrite, LedgerEntry } from '../contracts/sink.js';
import type { Document } from '../elements/document.js';
import { MillraceError } from '../errors/millrace-error.js';
import { checkVector } from '../inference/check-vector.js';
import type { Chunker } from '../transforms/chunk/pooled-chunker.js';
import type { Embedding } from '../transforms/embed.js';
import type { InferChunks } from '../transforms/infer/infer-chunks.js';
import type { BatchedSink } from './batched-sink.js';
import { makeChunks } from './make-chunks.js';

/** The part of a chain that makes chunks with vectors of a text. */
export interface ModelChain extends Chunker {
  /** Components of a vector. */
  readonly width: number;
  /** Steps between chunker and embedder. */
  readonly inferChunks: readonly InferChunks[];
  embed(texts: readonly EmbedText[]): Promise<readonly Embedding[]>;
}

export interface ChunkAndEmbedContext {
  readonly pipeline: string;
  readonly chain: ModelChain;
  readonly sink: Pick<BatchedSink, 'held'>;
  /** Chunks of a document at most. */
  readonly maxChunks: number;
  enter(stage: Stage): void;
}

export interface EmbeddedChunks {
  readonly chunks: readonly ChunkWrite[];
  /** How many of them went through the model. */
  readonly embedded: number;
}

/** The chunks of a document, each with its vector or without one where the store holds it. */
export async function chunkAndEmbed(
  document: Document,
  entry: LedgerEntry | undefined,
  context: ChunkAndEmbedContext,
): Promise<EmbeddedChunks> {
  const { chunkAndEmbed: atOnce, inferChunks } = context.chain;
  const mayHold = entry !== undefined && entry.chunkCount > 0;
  return mayHold || atOnce === undefined || inferChunks.length > 0
    ? embedMissing(document, mayHold, context)
    : embedAll(document, atOnce, context);
}

async function embedAll(
  document: Document,
  chunkAndEmbed: NonNullable<Chunker['chunkAndEmbed']>,
  { pipeline, chain, maxChunks, enter }: ChunkAndEmbedContext,
): Promise<EmbeddedChunks> {
  enter('chunk');
  const { passages, vectors } = await chunkAndEmbed(document.text);
  checkCount(document, passages.length, maxChunks);
  enter('embed');
  const chunks = makeChunks(pipeline, document, passages).map((chunk, at): ChunkWrite => {
    const vector = vectors[at];
    const error = checkVector(vector, chain.width);
    if (error !== undefined) throw error;
    return { chunk, vector };
  });
  return { chunks, embedded: chunks.length };
}

async function embedMissing(
  document: Document,
  mayHold: boolean,
  { pipeline, chain, sink, maxChunks, enter }: ChunkAndEmbedContext,
): Promise<EmbeddedChunks> {
  enter('chunk');
  let found = await chain.chunk(document.text);
  checkCount(document, found.passages.length, maxChunks);
  for (const infer of chain.inferChunks) found = await infer(document, found, enter);
  const { passages, ids } = found;
  const chunks = makeChunks(pipeline, document, passages);
  const held = mayHold && chunks.length > 0 ? await sink.held(chunks.map(({ id }) => id)) : none;
  enter('embed');
  const missing: EmbedText[] = [];
  chunks.forEach(({ id, embeddedText: text }, at) => {
    if (!held.has(id)) missing.push({ text, ids: ids[at]! });
  });
  const embeddings = await chain.embed(missing);
  let used = 0;
  const writes = chunks.map((chunk): ChunkWrite => ({
    chunk,
    vector: held.has(chunk.id) ? undefined : embeddings[used++]!.vector,
  }));
  return { chunks: writes, embedded: missing.length };
}

const none: ReadonlySet<string> = new Set();

function checkCount({ id }: Document, chunks: number, maxChunks: number): void {
  if (chunks <= maxChunks) return;
  throw new MillraceError(
    'item_too_large',
    `The document ${JSON.stringify(id)} has ${chunks} chunks; at most ${maxChunks} are allowed.`,
    { hint: 'Split the document, or raise limits.maxChunks.' },
  );
}
