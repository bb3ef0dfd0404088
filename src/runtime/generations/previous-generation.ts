import type { Store } from '../../contracts/store.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { readChain, type ChainArtifact } from '../../pipeline/artifacts.js';
import { generationsOf } from './find.js';

/** A generation that was the active one, and the chain that filled it. */
export interface PreviousGeneration {
  readonly number: number;
  readonly chain: ChainArtifact;
}

/** The one that was switched off last among those made before the active one. @throws MillraceError `generation_refused` when there is none */
export async function previousGeneration(store: Store, signal?: AbortSignal): Promise<PreviousGeneration> {
  const generations = generationsOf(store);
  const active = (await generations.active(signal)) ?? 0;
  const others = await generations.others(signal);
  const retired = others.filter(({ number, state }) => state === 'retired' && number < active);
  const [last] = retired.sort((a, b) => b.since - a.since);
  const chain = last && (await readChain(generations.view(last.number).artifacts));
  if (last !== undefined && chain !== undefined) return { number: last.number, chain };
  throw new MillraceError('generation_refused', 'There is no generation to go back to.', {
    hint: 'One that was switched off is kept for the time of `generations.keep`, and none is, or it was dropped.',
  });
}
