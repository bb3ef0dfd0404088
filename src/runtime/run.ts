import type { Clock } from '../contracts/context.js';
import type { Source } from '../contracts/source.js';
import { MillraceError } from '../errors/millrace-error.js';
import { retry } from '../flow/retry.js';
import { Releasers } from '../flow/releasers.js';
import { Stop } from '../flow/stop.js';
import { systemClock } from '../flow/system-clock.js';
import { UnderWay } from '../flow/under-way.js';
import { secretsIn } from '../config/secrets.js';
import type { Connectors } from '../config/schema.js';
import type { Report, RunSummary } from '../observability/events.js';
import { createRedact } from '../observability/redact.js';
import { agreeOnChain } from '../pipeline/artifacts.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { adoptChain } from './generations/adopt-chain.js';
import { createSpaceChanger } from './generations/space-changer.js';
import { dropRetired } from './generations/drop-retired.js';
import { keepRetention } from './keep-retention.js';
import { checkTerms } from './check-terms.js';
import { openChain, wireChain } from './open-chain.js';
import { openFailedStore, openSource, openStore, type OpenContext } from './open-parts.js';
import { openStatus, type Status } from './open-status.js';
import { rereading } from './rereading.js';
import { runLoop } from './run-loop.js';
import { lastingControl, runOn, type RunEnd } from './run-on.js';
import { sourceState } from './source-state.js';
import { startRefresh, type RunControl } from './start-refresh.js';
import { Tally } from './tally.js';

export interface RunOptions {
  readonly connectors: Connectors;
  /** Go on after the source was read to its end, until stopped. Default: only where the source has no end (a stream). */
  readonly watch?: boolean;
  /** Delete however many documents vanished at once. Default false. */
  readonly allowMassDeletion?: boolean;
  /** Aborting it drains the run: nothing more is read, what is under way finishes. */
  readonly signal?: AbortSignal;
  /** Aborting it gives up what is under way; nothing of it is acknowledged. */
  readonly abort?: AbortSignal;
  readonly onEvent?: Report;
  readonly clock?: Clock;
  /** Called once, when the run can be told of new models: only with `refresh` in the configuration. */
  onControl?(control: RunControl): void;
  /** Leaves the records of failures as they are until their elements come, also where they are over. Default false. */
  readonly keepRecords?: boolean;
  /** Stands in for the source of the pipeline: replays hand in their own. */
  readonly source?: Source;
}

/** Some 9 seconds. */
const startTries = 6;

/**
 * Brings a source into its store: reads, chunks, embeds, writes, settles, until the source ends or the run is stopped.
 * @throws MillraceError of what stopped the run; whatever was under way then comes again at the next run
 */
export function runPipeline(spec: PipelineSpec, options: RunOptions): Promise<RunSummary> {
  const onControl = lastingControl(options.onControl);
  return runOn(spec, (one) => runOnce(one, { ...options, ...(onControl && { onControl }) }));
}

/** Until the source ends, a stop, or a model of another space fills the store: then the next run goes on with it. */
async function runOnce(spec: PipelineSpec, options: RunOptions): Promise<RunEnd> {
  const { connectors, allowMassDeletion = false, onEvent } = options;
  const clock = options.clock ?? systemClock;
  const stop = new Stop(clock);
  const began = clock.now();
  const releasers = new Releasers();
  let status: Status | undefined;
  const report: Report = (event) => {
    status?.see(event);
    onEvent?.(event);
  };
  const context: OpenContext = { connectors, clock, report, releasers };
  releasers.push(listen(options.signal, () => stop.drain(spec.stopDeadlineMs)));
  releasers.push(listen(options.abort, () => stop.abort()));
  try {
    if (spec.http !== undefined) {
      const opened = await openStatus(spec.http, { releasers, redact: createRedact(secretsIn(spec)) });
      status = opened;
      report({ type: 'status-open', url: opened.url });
    }
    /** A store that is about to change its owner is waited for; one that is not there at all soon ends the run. */
    const patientStart = (work: () => Promise<void>) =>
      retry(work, {
        clock,
        signal: stop.draining,
        maxTries: startTries,
        onRetry: (event) => report({ type: 'retry', lane: 'sink', ...event }),
      });
    const store = await openStore(spec, context);
    checkTerms(spec, store);
    const failed = await openFailedStore(spec, context);
    releasers.push(keepRetention({ failed, retentionMs: spec.failedRetentionMs, clock, report }));
    const given = options.source ?? (await openSource(spec, context));
    const watch = options.watch ?? given.endless ?? false;
    let loopEnded = (): void => undefined;
    const loopEnd = new Promise<void>((resolve) => (loopEnded = resolve));
    const changer =
      options.source === undefined &&
      store.generations !== undefined &&
      spec.generations.onNewSpace === 'reindex'
        ? createSpaceChanger({
            ...{ spec, connectors, report },
            signal: AbortSignal.any([options.signal, options.abort].filter((one) => one !== undefined)),
            drain: async () => {
              stop.drain(spec.stopDeadlineMs);
              await loopEnd;
            },
          })
        : undefined;
    releasers.push(async () => changer?.end());
    const opened = await openChain(spec, context, stop, changer?.see);
    const { artifact, spaces, models } = opened;
    const wired = wireChain(spec, opened, context, stop);
    const { chain, admission, limits } = wired;
    await patientStart(() => adoptChain({ spec, store, opened, wired, context, stop }));
    await patientStart(async () => {
      await store.prepare({ spaces, terms: spec.sparse !== undefined });
      await agreeOnChain(store.artifacts, artifact, () => store.count());
    });

    const { source, everyMs: rereadEveryMs } =
      options.source === undefined
        ? await rereading(spec, given, store, { clock, report })
        : { source: given, everyMs: undefined };
    releasers.push(await startRefresh({ spec, models, context, stop, onControl: options.onControl }));

    const underWay = new UnderWay(clock);
    status?.watch(admission, underWay);
    // A stop does not wait for an index: the next run makes it.
    const tune = () =>
      untilStopped(
        stop,
        retry(
          async () => {
            await store.tune(stop.draining);
            await dropRetired(store, spec.generations.keepMs, clock, stop.draining);
          },
          { clock, signal: stop.draining },
        ),
      );
    const looped = runLoop({
      pipeline: spec.name,
      source,
      chain,
      sink: store.sink,
      state: sourceState({
        artifacts: store.memory,
        source: source.name,
        clock,
        signal: stop.draining,
        report,
      }),
      failed,
      admission,
      underWay,
      limits,
      watch,
      rereadEveryMs,
      allowMassDeletion,
      clock,
      stop,
      report,
      tune,
      keepRecords: options.keepRecords ?? false,
    }).finally(loopEnded);
    const summary = await looped.catch(async (thrown: unknown) => {
      const moved = MillraceError.from(thrown).code === 'generation_moved';
      const next = moved ? await changer?.moved() : undefined;
      if (next === undefined) throw thrown;
      return new Tally().summary(clock.now() - began, 'drained');
    });
    const next = await changer?.settle();
    if (!stop.draining.aborted) await tune();
    return { summary, next };
  } catch (error) {
    if (!isStop(stop, error)) throw error;
    // Stopped before the first document: nothing was under way.
    const end = stop.aborting.aborted ? 'aborted' : 'drained';
    return { summary: new Tally().summary(clock.now() - began, end), next: undefined };
  } finally {
    stop.settle();
    await releasers.release();
  }
}

/** Everything is settled by now: tuning goes on at the next run. */
async function untilStopped(stop: Stop, tuning: Promise<void>): Promise<void> {
  await tuning.catch((error: unknown) => {
    if (!isStop(stop, error)) throw error;
  });
}

function isStop(stop: Stop, error: unknown): boolean {
  return stop.draining.aborted && MillraceError.from(error).code === 'aborted';
}

function listen(signal: AbortSignal | undefined, react: () => void): () => void {
  if (signal?.aborted) react();
  signal?.addEventListener('abort', react, { once: true });
  return () => signal?.removeEventListener('abort', react);
}
