import { counted } from '../../elements/counted.js';
import type { Generations } from '../../contracts/generations.js';
import type { StoreLayout } from '../../contracts/store.js';

/** What a filling will take, should it have as many chunks as the active generation. */
export interface Forecast {
  readonly documents: number;
  readonly chunks: number;
  /** Of vectors alone, as floats of 32 bits. */
  readonly vectorBytes: number;
  /** On disk, texts and indexes included, until the old generation is dropped; undefined where the store cannot tell. */
  readonly bytes: number | undefined;
  /** Free on the disk of the store; undefined where nobody can tell. */
  readonly freeBytes: number | undefined;
}

export async function forecastOf(
  generations: Generations,
  from: number,
  layout: StoreLayout,
  signal: AbortSignal,
): Promise<Forecast> {
  const { count } = (await generations.list(signal)).find(({ number }) => number === from)!;
  const width = layout.spaces.reduce((sum, space) => sum + space.width, 0);
  const room = await generations.room?.(layout, signal);
  return {
    ...count,
    vectorBytes: count.chunks * width * 4,
    bytes: room?.bytes,
    freeBytes: room?.freeBytes,
  };
}

/** The disk would be full before it is filled. */
export function tooLittleRoom({ bytes, freeBytes }: Forecast): boolean {
  return bytes !== undefined && freeBytes !== undefined && bytes > freeBytes;
}

export function forecastLine({ documents, chunks, vectorBytes, bytes, freeBytes }: Forecast): string {
  const vectors = `${megabytes(vectorBytes)} of vectors`;
  const disk = bytes === undefined ? vectors : `about ${megabytes(bytes)} on disk, with ${vectors}`;
  const free = freeBytes === undefined ? '' : `; ${megabytes(freeBytes)} are free`;
  return `${counted(documents, 'document')} with ${counted(chunks, 'chunk')}, ${disk}${free}`;
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
