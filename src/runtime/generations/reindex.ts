import type { Generations } from '../../contracts/generations.js';
import type { KeptTexts } from '../../contracts/kept-texts.js';
import type { Store } from '../../contracts/store.js';
import { ChunkIds } from '../../elements/ids.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { retry } from '../../flow/retry.js';
import type { Stop } from '../../flow/stop.js';
import { routeName } from '../../inference/routing.js';
import { createBatchedSink } from '../../pipeline/batched-sink.js';
import { changedTexts, sameTokens } from '../../pipeline/chain-change.js';
import { createPatientSink } from '../../pipeline/patient-sink.js';
import type { PipelineSpec } from '../../pipeline/spec.js';
import type { OpenedChain, WiredChain } from '../open-chain.js';
import { openSource, type OpenContext } from '../open-parts.js';
import { sourceState } from '../source-state.js';
import { collectTexts } from './collect-texts.js';
import { compareGenerations } from './compare-generations.js';
import { fillGeneration, type FillSummary } from './fill.js';
import { chunkWorks, givenWorks } from './fill-works.js';
import { activeChain, findGeneration } from './find.js';
import { forecastOf, type Forecast } from './forecast.js';
import { givenTexts } from './given-texts.js';
import type { Overlap } from './overlap.js';
import { startGeneration } from './start-generation.js';

export interface ReindexOptions {
  readonly spec: PipelineSpec;
  readonly store: Store;
  readonly generations: Generations;
  readonly opened: OpenedChain;
  readonly wired: WiredChain;
  readonly context: OpenContext;
  readonly stop: Stop;
  /** Documents a second at most. */
  readonly rate?: number | undefined;
  /** Where the new chain makes other texts and what the source gave is not kept: the source is read for it. */
  readonly fromSource?: boolean | undefined;
}

/** A generation for the chain of a configuration, beside the active one. */
export interface Reindex {
  /** Its number; the active one's when there is nothing to do. */
  readonly number: number;
  readonly active: number;
  readonly forecast: Forecast;
  /** Takes over what the active one holds. */
  fill(): Promise<FillSummary>;
  /**
   * Fills, compares, and makes the generation the active one.
   * @param options.ready called once it follows the writers and the overlap will do, before these are paused
   * @throws MillraceError `generation_refused` when something cannot be taken over, or the overlap is below the least
   */
  switch(leastOverlap: number, options?: { readonly ready?: () => Promise<void> }): Promise<Overlap>;
}

const pauseMs = 10_000;
/** Each try pauses the writers once. */
const switchTries = 6;
const claimedByOthersMs = 500;

/**
 * Finds the generation of this chain, or makes it. @throws MillraceError `store_layout` when nothing was stored yet;
 * `artifact_mismatch` when the new chain makes other texts than those that are stored, and what they were made of is not
 * kept
 */
export async function openReindex(options: ReindexOptions): Promise<Reindex> {
  const { spec, store, generations, opened, wired, context, stop, rate, fromSource = false } = options;
  const { clock, report } = context;
  const signal = stop.aborting;
  const { artifact, spaces, plan } = opened;
  const active = await activeChain(store);
  if (active?.number === undefined)
    throw new MillraceError(
      'store_layout',
      `Nothing was stored yet under the pipeline name "${spec.name}".`,
      {
        hint: 'Fill the store first with `millrace run`.',
      },
    );
  const from = active.number;
  const changed = changedTexts(active.chain, artifact);
  const found = await findGeneration(generations, artifact);
  const texts =
    changed.length === 0 || found === from
      ? undefined
      : await givenTexts(store, { changed, begun: found !== undefined, fromSource });
  const layout = { spaces, terms: spec.sparse !== undefined };
  const number = found ?? (await startGeneration(generations, layout, artifact));
  const view = generations.view(number);
  const forecast = await forecastOf(generations, from, layout, signal);

  const patient = createPatientSink({ sink: view.sink, clock, signal, report });
  const sink = createBatchedSink({ sink: patient, clock, signal, report });
  const plans = new Map(plan.routes.map((route) => [routeName(route.models), route]));
  const works =
    texts === undefined
      ? chunkWorks(generations, {
          chain: wired.chain,
          sink,
          signal,
          sameTokens: ({ lanes }) => lanes.every(({ space }) => sameTokens(active.chain, artifact, space)),
          maxTokens: ({ name }) => plans.get(name)!.maxTokens,
        })
      : givenWorks(generations.view(from).sink, texts, {
          ...{ chunkIds: new ChunkIds(spec.name), chain: wired.chain, caps: wired.limits, sink, signal },
        });
  const by = texts === undefined ? 'contents' : 'versions';
  let collected = !fromSource;

  /** What the source holds of documents that were stored before texts were kept. */
  async function collect(texts: KeptTexts): Promise<void> {
    const source = await openSource(spec, context);
    const { maxItemBytes } = wired.limits;
    const state = sourceState({
      ...{ artifacts: store.memory, source: source.name, clock, report },
      signal: stop.draining,
    });
    await collectTexts({ texts, source, state, maxItemBytes, clock, signal: stop.draining });
    collected = true;
  }

  const fill = async (): Promise<FillSummary> => {
    if (number === from) return { documents: 0, embedded: 0, refused: new Map() };
    if (texts !== undefined && !collected) await collect(texts);
    return fillGeneration({
      generations,
      number,
      rate,
      clock,
      draining: stop.draining,
      signal,
      report,
      works,
    });
  };

  async function fillMore(): Promise<void> {
    const { refused } = await fill();
    const [first] = refused;
    if (first !== undefined) throw notTaken(number, refused.size, first);
    if (stop.draining.aborted)
      throw new MillraceError('aborted', 'The filling was stopped; it goes on at the next start.');
  }

  /** As far as the writers can be followed; what other processes have claimed is waited for. */
  async function follow(): Promise<void> {
    for (;;) {
      await fillMore();
      if ((await generations.behind(number, signal)).claimed === 0) return;
      await clock.sleep(claimedByOthersMs, stop.draining);
    }
  }

  /** All of it, while the writers are paused. @returns whether it did */
  async function catchUp(untilMs: number): Promise<boolean> {
    while (clock.now() < untilMs) {
      await fillMore();
      const { documents, claimed } = await generations.behind(number, signal);
      if (documents === 0) return true;
      if (claimed > 0) await clock.sleep(claimedByOthersMs / 10, stop.draining);
    }
    return false;
  }

  return {
    number,
    active: from,
    forecast,
    fill,
    switch: async (leastOverlap, { ready } = {}) => {
      if (number === from) return { asked: 0, share: 1, canaries: [] };
      await follow();
      await retry(() => view.tune(stop.draining), { clock, signal: stop.draining });
      await generations.reconcile(number, signal, by);
      await follow();
      const overlap = await compareGenerations(
        { spec, generations, active: { number: from, chain: active.chain }, number, opened, context, signal },
        leastOverlap,
      );
      await ready?.();
      for (let tries = 0; tries < switchTries; tries += 1) {
        await generations.pause(pauseMs, signal);
        let switched = false;
        try {
          switched =
            (await catchUp(clock.now() + pauseMs * 0.8)) && (await generations.switchTo(number, signal));
        } finally {
          if (!switched) await generations.resume();
        }
        if (switched) return overlap;
        await generations.reconcile(number, signal, by);
        await follow();
      }
      throw new MillraceError(
        'generation_refused',
        `Generation ${number} could not catch up with the writers within ${pauseMs / 1_000} s, ${switchTries} times.`,
        { hint: 'Try again when less is written.' },
      );
    },
  };
}

function notTaken(
  number: number,
  count: number,
  [documentId, error]: readonly [string, MillraceError],
): MillraceError {
  return new MillraceError(
    'generation_refused',
    `Generation ${number} cannot take over ${count} ${count === 1 ? 'document' : 'documents'}; the first is ${JSON.stringify(documentId)}: ${error.message}`,
    { cause: error, ...(error.hint !== undefined && { hint: error.hint }) },
  );
}
