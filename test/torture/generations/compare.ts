import type { PipelineInput } from '../../../src/index.js';
import { fillReference } from '../reference.js';
import type { GenerationStore, StoredText } from './generation-store.js';

const shown = 20;
const tolerance = 1e-6;

/** What is stored against what the source was told last. Blanks between chunks are in none. */
export function compareContents(
  found: ReadonlyMap<string, StoredText>,
  expected: ReadonlyMap<string, string>,
): string[] {
  const faults: string[] = [];
  const solid = (text: string) => text.replace(/\s+/g, '');
  for (const [id, text] of expected) {
    const stored = found.get(id);
    if (stored === undefined) faults.push(`${id} is missing`);
    else if (stored.texts.length !== stored.chunkCount)
      faults.push(`${id} has ${stored.texts.length} chunks, ${stored.chunkCount} by the ledger`);
    else if (solid(stored.texts.join('')) !== solid(text)) faults.push(`${id} is not its newest version`);
  }
  for (const id of found.keys()) if (!expected.has(id)) faults.push(`${id} was deleted and is stored`);
  return faults.slice(0, shown);
}

/** What is kept against what the source gave last, to the letter. */
export function compareKept(
  { texts, astray }: Awaited<ReturnType<GenerationStore['kept']>>,
  expected: ReadonlyMap<string, string>,
): string[] {
  const wrong = [...expected].flatMap(([id, text]) => {
    const kept = texts.get(id);
    return kept === text ? [] : [`${kept === undefined ? 'no' : 'another'} text is kept of ${id}`];
  });
  return [...(astray > 0 ? [`${astray} kept texts are of no document`] : []), ...wrong].slice(0, shown);
}

/** The vectors of some documents against those of an undisturbed filling in a pipeline of its own. */
export async function compareVectors(
  store: GenerationStore,
  pipeline: string,
  generation: number,
  sample: readonly (readonly [id: string, text: string])[],
  reference: PipelineInput,
  folder: string,
): Promise<string[]> {
  const contents = sample.map(([id, text]) => {
    const content = { text, metadata: {} };
    return [id, { content, failed: false, earlier: [] }] as const;
  });
  await fillReference(reference, folder, 'reference', new Map(contents));
  const ids = sample.map(([id]) => id);
  const found = await store.vectors(pipeline, generation, ids);
  const wanted = await store.vectors(reference.name, 1, ids);
  const faults: string[] = [];
  if (wanted.size < ids.length) faults.push('the reference is not whole');
  for (const [key, { hash, vector }] of wanted) {
    const own = found.get(key);
    const near = own?.vector.every((one, at) => Math.abs(one - vector[at]!) < tolerance);
    if (own?.hash !== hash) faults.push(`chunk ${key} is of another text`);
    else if (near !== true) faults.push(`the vector of chunk ${key} is not that of the new model`);
  }
  for (const key of found.keys()) if (!wanted.has(key)) faults.push(`chunk ${key} must not be there`);
  return faults.slice(0, shown);
}
