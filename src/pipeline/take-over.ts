import type { StoredDocument } from '../contracts/generations.js';
import type { LedgerEntry, StoreWrite } from '../contracts/sink.js';
import type { Chunk } from '../elements/chunk.js';
import { textHash } from '../elements/hash.js';
import type { Version } from '../elements/version.js';
import { MillraceError } from '../errors/millrace-error.js';
import { addTerms } from '../transforms/terms/add-terms.js';
import type { BatchedSink } from './batched-sink.js';
import type { Chain } from './document-task.js';
import { embedChunks } from './embed-chunks.js';
import type { Route } from './route.js';
import { holds } from './holds.js';

export interface TakeOverContext {
  readonly chain: Chain;
  /** Of the generation that takes over. */
  readonly sink: BatchedSink;
  /** Whether stored chunks have their length in tokens of the models of this route. */
  sameTokens(route: Route): boolean;
  /** What the models of a route read, in tokens. */
  maxTokens(route: Route): number;
  readonly signal: AbortSignal;
}

/**
 * Brings a generation to what the active one holds of a document: its chunks, its tombstone, its failed version. The
 * versions are the same, so the fence drops whatever comes late.
 * @param make brings in the chunks of a stored document, at this version
 * @returns how many texts went through a model
 */
export async function takeOver(
  entry: LedgerEntry,
  sink: BatchedSink,
  make: (version: Version) => Promise<number>,
): Promise<number> {
  const { documentId, source, version, failedVersion } = entry;
  let embedded = 0;
  if (version !== undefined && entry.state === 'stored') embedded = await make(version);
  if (version !== undefined && entry.state === 'deleted')
    await sink.write({ kind: 'delete', documentId, source, version });
  if (failedVersion !== undefined)
    await sink.write({ kind: 'fail', documentId, source, version: failedVersion });
  return embedded;
}

/** How often a document is looked at again because another filling wrote it meanwhile. */
const maxLooks = 10;

/**
 * The stored chunks with vectors by the new models. @returns how many texts went through a model
 * @throws MillraceError `item_too_large` when a stored chunk is longer than a new model reads; `transform_failed` when its
 * embedded text was not kept
 */
export async function takeOverChunks(
  { entry, chunks, given }: StoredDocument,
  version: Version,
  { chain, sink, signal, ...lengths }: TakeOverContext,
): Promise<number> {
  const { documentId, source, contentHash } = entry;
  const content = { contentHash: contentHash!, chainDigest: chain.digest };
  const key = { documentId, source, version, given };
  for (let look = 0; look < maxLooks; look += 1) {
    const held = await sink.ledger(documentId);
    if (holds(held, content)) {
      const { kind } = await sink.write({ kind: 'touch', ...key, ...content });
      if (kind !== 'moved') return 0;
      continue;
    }
    const [first] = chunks;
    const route = chain.route({
      kind: 'document',
      id: documentId,
      version,
      text: '',
      metadata: first?.metadata ?? {},
    });
    for (const chunk of chunks) await checkChunk(chunk, route, lengths);
    const units = chunks.reduce((sum, { embeddedText }) => sum + embeddedText.length, 0);
    const { spaces, embedded } = await route.run(units, () =>
      embedChunks(chunks, { mayHold: (held?.chunkCount ?? 0) > 0, lanes: route.lanes, sink }),
    );
    const written = chain.keepsTerms ? await addTerms(chunks, signal) : chunks;
    const write: StoreWrite = { kind: 'store', ...key, ...content, chunks: written, spaces };
    if ((await sink.write(write)).kind !== 'moved') return embedded;
  }
  throw new MillraceError(
    'store_conflict',
    `The document ${JSON.stringify(documentId)} was changed by others ${maxLooks} times while it was taken over.`,
  );
}

/** A chunk can be embedded anew when what was embedded is known, and the new models read all of it. */
async function checkChunk(
  { documentId, ordinal, embeddedText, hash, tokens }: Chunk,
  route: Route,
  { sameTokens, maxTokens }: Pick<TakeOverContext, 'sameTokens' | 'maxTokens'>,
): Promise<void> {
  const where = `Chunk ${ordinal} of document ${JSON.stringify(documentId)}`;
  if (textHash(embeddedText) !== hash)
    throw new MillraceError(
      'transform_failed',
      `${where} was stored without what stood before its text when it was embedded.`,
      { hint: 'Change the document at its source, or fill another store.' },
    );
  const most = maxTokens(route);
  if (sameTokens(route) ? tokens <= most : await fits(embeddedText, route, most)) return;
  throw new MillraceError('item_too_large', `${where} is longer than the new model reads: ${most} tokens.`, {
    hint: 'Choose a smaller chunk size, and fill another store.',
  });
}

/** Cut by the chunker of the new models, a text that they read whole gives passages that are together no longer than that. */
async function fits(text: string, { chunker }: Route, most: number): Promise<boolean> {
  // No tokenizer makes more tokens than bytes.
  if (Buffer.byteLength(text) <= most) return true;
  const { passages } = await chunker.chunk(text);
  return passages.length <= 1 || passages.reduce((sum, { tokens }) => sum + tokens, 0) <= most;
}
