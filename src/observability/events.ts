import type { Notice } from '../contracts/context.js';
import type { Stage } from '../contracts/failed-store.js';
import type { SourceLag } from '../contracts/source.js';
import type { OutcomeKind } from '../elements/outcome.js';
import type { MillraceError } from '../errors/millrace-error.js';

/** Everything that a run tells of itself. Log lines, progress bars and figures are all made from these. */
export type RunEvent =
  | { readonly type: 'started'; readonly pipeline: string; readonly watch: boolean }
  /** `/health` and `/metrics` can be asked there. */
  | { readonly type: 'status-open'; readonly url: string }
  /** A generation is being filled, after the first seconds and then every minute: what this process took over of it. */
  | {
      readonly type: 'filling';
      readonly generation: number;
      readonly documents: number;
      /** Documents that it is behind in. */
      readonly left: number;
      readonly perSecond: number;
      readonly etaMs: number;
    }
  /** Share of the source that was handed over, 0 to 1, where the source can tell. */
  | { readonly type: 'progress'; readonly share: number }
  | {
      readonly type: 'settled';
      readonly documentId: string;
      readonly outcome: OutcomeKind;
      /** Chunks that went through the model. */
      readonly embedded: number;
      /** UTF-16 code units of the text that the source handed over. */
      readonly characters: number;
    }
  | {
      readonly type: 'failed';
      readonly documentId: string;
      readonly stage: Stage;
      readonly error: MillraceError;
    }
  | {
      readonly type: 'batch';
      readonly lane: string;
      readonly items: number;
      readonly cost: number;
      /** Cost with padding, where a batch is padded. */
      readonly paddedCost?: number;
      readonly ms: number;
      /** Time of `ms` that its worker took, where that is known; the rest is waiting and retries. */
      readonly servedMs?: number;
    }
  /** A call failed and is tried again. `pausing`: an outage, tried until it passes. */
  | {
      readonly type: 'retry';
      readonly lane: string;
      readonly error: MillraceError;
      readonly attempt: number;
      readonly delayMs: number;
      readonly pausing: boolean;
    }
  | { readonly type: 'recovered'; readonly lane: string }
  /** What waits for this lane has filled its share of the bound, for 5 s without a break: reading pauses until it is free. */
  | { readonly type: 'lane-full'; readonly lane: string; readonly documents: number }
  | { readonly type: 'lane-free'; readonly lane: string }
  /** A refresh of a model is over: batches run on model `to` from now on, which is `from` unless it was switched. */
  | {
      readonly type: 'refresh';
      readonly model: string;
      readonly result: 'switched' | 'unchanged' | 'refused';
      /** Ids of models, as they label what they make. */
      readonly from: string;
      readonly to: string;
      /** Why it was refused. */
      readonly error?: MillraceError;
      /** Loading and probing included: other batches go on meanwhile, unless there was no room for both. */
      readonly ms: number;
    }
  | { readonly type: 'swept'; readonly documents: number }
  /** How far the reading of the source is behind. */
  | ({ readonly type: 'lag'; readonly source: string } & SourceLag)
  /** A source that goes on has handed over all there is for now, and all of it is settled. */
  | { readonly type: 'caught-up' }
  | ({ readonly type: 'notice' } & Notice)
  | { readonly type: 'finished'; readonly summary: RunSummary };

export interface RunSummary {
  readonly outcomes: { readonly [kind in OutcomeKind]: number };
  /** Chunks that went through the model; those whose vectors were kept are not among them. */
  readonly embedded: number;
  /** Chunks of the documents that were stored in this run. */
  readonly chunks: number;
  readonly ms: number;
  /** `complete`: the source ended; `drained`: a stop let everything finish; `aborted`: a stop cut work off. */
  readonly end: 'complete' | 'drained' | 'aborted';
}

export type Report = (event: RunEvent) => void;
