import type { Generations } from '../../contracts/generations.js';
import type { Store } from '../../contracts/store.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { chainDigest, readChain, type ChainArtifact } from '../../pipeline/artifacts.js';

/** @throws MillraceError `config_invalid` for a store that has only one */
export function generationsOf(store: Store): Generations {
  if (store.generations !== undefined) return store.generations;
  throw new MillraceError('config_invalid', 'This kind of store keeps one generation only.', {
    hint: 'Fill another store with the new chain.',
  });
}

/** The active generation, where the store keeps several, and its chain; undefined before anything was stored. */
export async function activeChain({
  generations,
  artifacts,
}: Pick<Store, 'generations' | 'artifacts'>): Promise<
  { readonly number: number | undefined; readonly chain: ChainArtifact } | undefined
> {
  const number = await generations?.active();
  const from = number === undefined ? artifacts : generations!.view(number).artifacts;
  const chain = await readChain(from);
  return chain && { number, chain };
}

/** The newest generation that was, or is being, filled by a chain like this one. */
export async function findGeneration(
  generations: Generations,
  chain: ChainArtifact,
): Promise<number | undefined> {
  return (await generationsLike(generations, chain)).at(-1);
}

/** All that were, or are being, filled by a chain like this one, in the order of their numbers. */
export async function generationsLike(
  generations: Generations,
  chain: ChainArtifact,
): Promise<readonly number[]> {
  const digest = chainDigest(chain);
  const found: number[] = [];
  for (const { number, state } of await generations.list()) {
    if (state === 'leaving') continue;
    const stored = await readChain(generations.view(number).artifacts);
    if (stored !== undefined && chainDigest(stored) === digest) found.push(number);
  }
  return found;
}
