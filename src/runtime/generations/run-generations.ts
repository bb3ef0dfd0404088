import type { Generation } from '../../contracts/generations.js';
import type { Connectors } from '../../config/schema.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { Releasers } from '../../flow/releasers.js';
import { Stop } from '../../flow/stop.js';
import { systemClock } from '../../flow/system-clock.js';
import type { Report } from '../../observability/events.js';
import type { PipelineSpec } from '../../pipeline/spec.js';
import { agreesWith } from '../../pipeline/artifacts.js';
import { openChain, wireChain } from '../open-chain.js';
import { openStore } from '../open-parts.js';
import { chainOfGeneration } from './chain-of-generation.js';
import { generationsOf } from './find.js';
import { previousGeneration } from './previous-generation.js';
import { openReindex, type Reindex, type ReindexOptions } from './reindex.js';

export interface GenerationsOptions {
  readonly connectors: Connectors;
  readonly signal?: AbortSignal;
  readonly abort?: AbortSignal;
  readonly onEvent?: Report;
  /** Documents a second at most. Default: as the configuration says. */
  readonly rate?: number | undefined;
  /** Where the new chain makes other texts and what the source gave is not kept: the source is read for it. Default false. */
  readonly fromSource?: boolean | undefined;
}

/**
 * Works on the generation of a configuration's chain, which is made where there is none.
 * @throws MillraceError as `openReindex`, and of what `work` throws
 */
export function withReindex<T>(
  spec: PipelineSpec,
  options: GenerationsOptions,
  work: (reindex: Reindex) => Promise<T>,
): Promise<T> {
  return withStore(spec, options, async (parts) => {
    const { context, stop } = parts;
    const opened = await openChain(spec, context, stop);
    const { fromSource } = options;
    return work(
      await openReindex({
        spec,
        ...parts,
        fromSource,
        opened,
        wired: wireChain(spec, opened, context, stop),
      }),
    );
  });
}

/**
 * Works on the generation that was switched off last, by the models that filled it, whichever the configuration names.
 * @throws MillraceError `generation_refused` when there is none; `artifact_mismatch` when its chain cannot be made from
 * what the store keeps of it
 */
export function withRollback<T>(
  given: PipelineSpec,
  options: GenerationsOptions,
  work: (reindex: Reindex) => Promise<T>,
): Promise<T> {
  return withStore(given, options, async (parts) => {
    const { store, context, stop } = parts;
    const previous = await previousGeneration(store, stop.draining);
    const spec = chainOfGeneration(given, previous.chain);
    const opened = await openChain(spec, context, stop);
    agreesWith(previous.chain, opened.artifact, {
      subject: `Generation ${previous.number}`,
      hint: 'Go back with the configuration that filled it.',
    });
    return work(await openReindex({ spec, ...parts, opened, wired: wireChain(spec, opened, context, stop) }));
  });
}

type StoreParts = Pick<ReindexOptions, 'store' | 'generations' | 'context' | 'stop' | 'rate'>;

async function withStore<T>(
  spec: PipelineSpec,
  options: GenerationsOptions,
  work: (parts: StoreParts) => Promise<T>,
): Promise<T> {
  const { connectors, onEvent: report = () => undefined, rate = spec.generations.rate } = options;
  const stop = new Stop(systemClock);
  const releasers = new Releasers();
  const context = { connectors, clock: systemClock, report, releasers };
  releasers.push(follow(options.signal, () => stop.drain(spec.stopDeadlineMs)));
  releasers.push(follow(options.abort, () => stop.abort()));
  try {
    const store = await openStore(spec, context);
    return await work({ store, generations: generationsOf(store), context, stop, rate });
  } finally {
    stop.settle();
    await releasers.release();
  }
}

/** The generations of a pipeline's store, in the order of their numbers. */
export async function listGenerations(
  spec: PipelineSpec,
  options: Pick<GenerationsOptions, 'connectors'>,
): Promise<readonly Generation[]> {
  const releasers = new Releasers();
  const context = { ...options, clock: systemClock, report: () => undefined, releasers };
  try {
    return await generationsOf(await openStore(spec, context)).list();
  } finally {
    await releasers.release();
  }
}

/** Removes a generation that is not the active one. @throws MillraceError `generation_moved`, `config_invalid` */
export async function dropGeneration(
  spec: PipelineSpec,
  number: number,
  { connectors, signal }: Pick<GenerationsOptions, 'connectors' | 'signal'>,
): Promise<void> {
  const releasers = new Releasers();
  const context = { connectors, clock: systemClock, report: () => undefined, releasers };
  try {
    const generations = generationsOf(await openStore(spec, context));
    if (!(await generations.list()).some((one) => one.number === number))
      throw new MillraceError('config_invalid', `There is no generation ${number}.`, {
        hint: '`millrace generations list` shows those that there are.',
      });
    await generations.drop(number, signal);
  } finally {
    await releasers.release();
  }
}

function follow(signal: AbortSignal | undefined, react: () => void): () => void {
  if (signal?.aborted) react();
  signal?.addEventListener('abort', react, { once: true });
  return () => signal?.removeEventListener('abort', react);
}
