import type { Generations } from '../../contracts/generations.js';
import type { StoreLayout } from '../../contracts/store.js';
import type { Json } from '../../elements/metadata.js';
import type { ChainArtifact } from '../../pipeline/artifacts.js';
import { generationsLike } from './find.js';

/** Makes a generation of a chain: of processes that start at once, one makes it for all. @returns its number */
export async function startGeneration(
  generations: Generations,
  layout: StoreLayout,
  artifact: ChainArtifact,
): Promise<number> {
  const made = await generations.start(layout, JSON.parse(JSON.stringify(artifact)) as Json);
  const [first = made] = await generationsLike(generations, artifact);
  if (first >= made) return made;
  await generations.drop(made);
  return first;
}
