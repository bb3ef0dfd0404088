import type { Generations } from '../../contracts/generations.js';
import { MillraceError } from '../../errors/millrace-error.js';
import type { ChainArtifact } from '../../pipeline/artifacts.js';
import type { PipelineSpec } from '../../pipeline/spec.js';
import type { OpenedChain } from '../open-chain.js';
import type { OpenContext } from '../open-parts.js';
import { canaryShares, type CanaryShare } from './canaries.js';
import { modelsOfGeneration } from './models-of-generation.js';
import { leastShare, neighbourOverlap, overlapLine, type Overlap } from './overlap.js';

export interface CompareOptions {
  readonly spec: PipelineSpec;
  readonly generations: Generations;
  readonly active: { readonly number: number; readonly chain: ChainArtifact };
  /** The one that is to become the active one, and its models. */
  readonly number: number;
  readonly opened: OpenedChain;
  readonly context: OpenContext;
  readonly signal: AbortSignal;
}

/**
 * Tells how far a generation agrees with the active one. @param least share that they must have in common; 0: whatever it is
 * @throws MillraceError `generation_refused` when it is below that
 */
export async function compareGenerations(options: CompareOptions, least: number): Promise<Overlap> {
  const { generations, active, number, context, signal } = options;
  const [one, other] = [generations.view(active.number), generations.view(number)];
  const overlap: Overlap = {
    ...(await neighbourOverlap(one, other, signal)),
    canaries: least > 0 ? await askCanaries(options) : [],
  };
  const message = `Generation ${number} and generation ${active.number} share ${overlapLine(overlap)}.`;
  context.report({ type: 'notice', level: 'info', code: 'generation_compared', message });
  if (leastShare(overlap) >= least) return overlap;
  throw new MillraceError(
    'generation_refused',
    `Generation ${number} shares with the active one ${overlapLine(overlap)}; at least ${Math.round(least * 100)} % are wanted.`,
    { hint: 'Is it the right model? If so, switch with a lower --overlap.' },
  );
}

/** By the models of both. Old models that are gone keep nobody from the new ones: the neighbours are compared anyway. */
async function askCanaries(options: CompareOptions): Promise<readonly CanaryShare[]> {
  const { spec, generations, active, number, opened, context, signal } = options;
  const { canaries } = spec.generations;
  if (canaries.length === 0) return [];
  let models;
  try {
    models = await modelsOfGeneration(spec, active.chain, opened.pool, context);
  } catch (thrown) {
    signal.throwIfAborted();
    const why = MillraceError.from(thrown).message;
    const message = `Generation ${active.number} cannot be asked the canaries: ${why}`;
    context.report({ type: 'notice', level: 'warn', code: 'canaries_not_asked', message });
    return [];
  }
  return canaryShares(
    canaries,
    { view: generations.view(active.number), models },
    { view: generations.view(number), models: opened.embeddings },
    { clock: context.clock, signal },
  );
}
