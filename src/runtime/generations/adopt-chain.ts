import type { Generations } from '../../contracts/generations.js';
import { agreesWith, chainDigest, hintOf } from '../../pipeline/artifacts.js';
import { activeChain, findGeneration } from './find.js';
import { forecastLine } from './forecast.js';
import { openReindex, type ReindexOptions } from './reindex.js';

/**
 * Before a run writes: where the store was filled by another chain, it is refused, or a new generation is filled and
 * becomes the active one, as the configuration says.
 * @throws MillraceError `artifact_mismatch` that says what differs
 */
export async function adoptChain(options: Omit<ReindexOptions, 'generations' | 'rate'>): Promise<void> {
  const { spec, store, opened, context } = options;
  const { generations } = store;
  if (generations === undefined) return;
  const active = await activeChain(store);
  if (active === undefined || chainDigest(active.chain) === chainDigest(opened.artifact)) return;
  const found = await findGeneration(generations, opened.artifact);
  const leftAt = found === undefined ? undefined : await leftGeneration(generations, active.number, found);
  if (leftAt !== undefined)
    return agreesWith(active.chain, opened.artifact, {
      hint: `Generation ${found} was filled by this chain and switched back from at ${new Date(leftAt).toISOString()}: \`millrace generations switch\` makes it the active one again, or set these back.`,
    });
  if (spec.generations.onNewSpace === 'hold')
    return agreesWith(active.chain, opened.artifact, { hint: hintOf(await store.count()) });
  const { minOverlap, rate } = spec.generations;
  const reindex = await openReindex({ ...options, generations, rate });
  const say = (code: string, message: string) =>
    context.report({ type: 'notice', level: 'info', code, message });
  say(
    'generation_filling',
    `Generation ${reindex.number} takes over ${forecastLine(reindex.forecast)}; generation ${reindex.active} is read until then.`,
  );
  await reindex.switch(minOverlap);
  say(
    'generation_switched',
    `Generation ${reindex.number} is active now, generation ${reindex.active} is kept for a switch back.`,
  );
}

/** When a generation that is newer than the active one was switched back from: only a person's word leads to it again. */
async function leftGeneration(
  generations: Generations,
  active: number | undefined,
  number: number,
): Promise<number | undefined> {
  const found = (await generations.others()).find((one) => one.number === number);
  return found?.state === 'retired' && number > (active ?? 0) ? found.since : undefined;
}
