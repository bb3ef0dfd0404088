import { agreesWith, chainDigest } from '../../pipeline/artifacts.js';
import { activeChain } from './find.js';
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
  if (spec.generations.onNewSpace === 'hold')
    return agreesWith(active.chain, opened.artifact, await store.count());
  const { overlap, rate } = spec.generations;
  const reindex = await openReindex({ ...options, generations, rate });
  const { documents, chunks } = reindex.forecast;
  const say = (code: string, message: string) =>
    context.report({ type: 'notice', level: 'info', code, message });
  say(
    'generation_filling',
    `Generation ${reindex.number} takes over ${documents} documents with ${chunks} chunks; generation ${reindex.active} is read until then.`,
  );
  const { share } = await reindex.switch(overlap);
  say(
    'generation_switched',
    `Generation ${reindex.number} is active now; ${Math.round(share * 100)} % of the neighbours are those of generation ${reindex.active}.`,
  );
}
