import type { Connectors } from '../../config/schema.js';
import { MillraceError } from '../../errors/millrace-error.js';
import type { Report, RunEvent } from '../../observability/events.js';
import type { PipelineSpec } from '../../pipeline/spec.js';
import { forecastLine } from './forecast.js';
import { withReindex } from './run-generations.js';
import { withFoundModel, type SpaceChange } from './space-change.js';

export interface SpaceChangerOptions {
  readonly spec: PipelineSpec;
  readonly connectors: Connectors;
  readonly report: Report;
  /** Aborts when the run is told to stop. */
  readonly signal: AbortSignal;
  /** Ends the run's own reading and writing. Resolves when all of it is done. */
  drain(): Promise<void>;
}

/** Fills a generation for a model that a refresh found while its run goes on, then ends the run and switches. */
export interface SpaceChanger {
  /** Begins, or comes next where a change is under way. */
  see(change: SpaceChange): void;
  /** The run has ended. @returns the configuration to go on with; undefined where it ended for another reason */
  settle(): Promise<PipelineSpec | undefined>;
  /** Another process made a generation the active one: waits whether that is the change under way. @returns as `settle` */
  moved(): Promise<PipelineSpec | undefined>;
  /** Gives up what is under way; whoever fills next goes on with it. */
  end(): Promise<void>;
}

export function createSpaceChanger(options: SpaceChangerOptions): SpaceChanger {
  const { spec, connectors, report, drain } = options;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  let underWay: Promise<void> | undefined;
  /** Found while another change was under way: tried when that came to nothing. */
  let later: SpaceChange | undefined;
  /** What the run goes on with: from when it is drained for the switch. */
  let next: PipelineSpec | undefined;

  async function change(found: SpaceChange): Promise<void> {
    const to = withFoundModel(spec, found);
    const { rate, minOverlap } = spec.generations;
    const ready = async () => {
      await found.adopt();
      // Under the same name its branch or folder leads to it from now on.
      next = found.next.model === found.model ? spec : to;
      await drain();
    };
    await withReindex(to, { connectors, signal, abort: signal, onEvent: tellTale, rate }, async (reindex) => {
      const { number, active, forecast } = reindex;
      if (number === active) return ready();
      say(
        'generation_filling',
        `Model ${found.next.model} makes vectors of another space: generation ${number} takes over ${forecastLine(forecast)}; generation ${active} is read and written until then.`,
      );
      await reindex.switch(minOverlap, { ready });
      say('generation_switched', `Generation ${number} is active now; the run goes on with it.`);
    });
    if (found.next.model !== found.model)
      say(
        'model_renamed',
        `The store is filled by model ${found.next.model} now: name it in the configuration in the place of ${found.model}, or the next start goes back.`,
        'warn',
      );
  }

  /** The documents of a filling are not those of the run. */
  function tellTale(event: RunEvent): void {
    if (event.type !== 'settled' && event.type !== 'progress' && event.type !== 'batch') report(event);
  }

  function say(code: string, message: string, level: 'info' | 'warn' = 'info'): void {
    report({ type: 'notice', level, code, message });
  }

  function see(found: SpaceChange): void {
    if (signal.aborted || next !== undefined) return;
    later = found;
    underWay ??= tryAll().finally(() => (underWay = undefined));
  }

  async function tryAll(): Promise<void> {
    while (later !== undefined && next === undefined && !signal.aborted) {
      const found = later;
      later = undefined;
      await change(found).catch((thrown: unknown) => {
        if (signal.aborted) return;
        const { message } = MillraceError.from(thrown);
        say(
          'generation_refused',
          `Model ${found.next.model} does not fill the store, the old one serves on: ${message} What was filled goes by \`millrace generations drop\`.`,
          'warn',
        );
      });
    }
  }

  async function end(): Promise<void> {
    over.abort(new MillraceError('aborted', 'The run is over.'));
    await underWay;
  }

  return {
    see,
    end,
    settle: async () => {
      if (next === undefined) await end();
      await underWay;
      return options.signal.aborted ? undefined : next;
    },
    moved: async () => {
      await underWay;
      return options.signal.aborted ? undefined : next;
    },
  };
}
