import type { EmbedText } from '../contracts/embedding-model.js';
import type { SpaceVectors } from '../contracts/sink.js';
import type { Chunk } from '../elements/chunk.js';
import type { BatchedSink } from './batched-sink.js';
import type { EmbedLane } from './route.js';

export interface EmbedChunksOptions {
  /** The chunker's token ids, one array a chunk, where it gave them. */
  readonly ids?: readonly Int32Array[];
  /** The store may hold some of these chunks. */
  readonly mayHold: boolean;
  readonly lanes: readonly EmbedLane[];
  readonly sink: Pick<BatchedSink, 'held'>;
}

/** Vectors of chunks in the space of each lane; undefined where the store holds them. `embedded`: how many were made. */
export async function embedChunks(
  chunks: readonly Chunk[],
  { ids, mayHold, lanes, sink }: EmbedChunksOptions,
): Promise<{ readonly spaces: readonly SpaceVectors[]; readonly embedded: number }> {
  const chunkIds = mayHold ? chunks.map(({ id }) => id) : [];
  const held = await Promise.all(
    lanes.map(({ space }) => (chunkIds.length > 0 ? sink.held(space, chunkIds) : none)),
  );
  let embedded = 0;
  const spaces = await Promise.all(
    lanes.map(async ({ space, takesIds, embed }, lane): Promise<SpaceVectors> => {
      const missing: EmbedText[] = [];
      chunks.forEach(({ id, embeddedText: text }, at) => {
        const known = takesIds ? ids?.[at] : undefined;
        if (!held[lane]!.has(id)) missing.push(known === undefined ? { text } : { text, ids: known });
      });
      embedded += missing.length;
      const made = await embed(missing);
      let used = 0;
      return {
        space,
        vectors: chunks.map(({ id }) => (held[lane]!.has(id) ? undefined : made[used++]!.vector)),
      };
    }),
  );
  return { spaces, embedded };
}

const none: ReadonlySet<string> = new Set();
