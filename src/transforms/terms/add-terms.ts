import { setImmediate } from 'node:timers/promises';
import type { Chunk } from '../../elements/chunk.js';
import { countTerms } from './count-terms.js';

/** Characters that are read before others have their turn: some 2 ms. */
const slice = 65_536;

/** Gives each chunk the terms of its embedded text, so that headings and contexts are found by their words too. */
export async function addTerms(chunks: readonly Chunk[], signal: AbortSignal): Promise<readonly Chunk[]> {
  const made: Chunk[] = [];
  let read = 0;
  for (const chunk of chunks) {
    made.push({ ...chunk, terms: countTerms(chunk.embeddedText) });
    read += chunk.embeddedText.length;
    if (read < slice) continue;
    read = 0;
    await setImmediate();
    signal.throwIfAborted();
  }
  return made;
}
