import type { RunSummary } from '../observability/events.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import type { RunControl } from './start-refresh.js';

/** How a run ended, and the configuration that the next one goes on with; undefined: none does. */
export interface RunEnd {
  readonly summary: RunSummary;
  readonly next: PipelineSpec | undefined;
}

/** One run after another, until none asks for a next: what they did together. */
export async function runOn(
  spec: PipelineSpec,
  once: (spec: PipelineSpec) => Promise<RunEnd>,
): Promise<RunSummary> {
  let { summary, next } = await once(spec);
  while (next !== undefined) {
    const end = await once(next);
    summary = together(summary, end.summary);
    next = end.next;
  }
  return summary;
}

function together(one: RunSummary, other: RunSummary): RunSummary {
  const kinds = Object.keys(one.outcomes) as (keyof RunSummary['outcomes'])[];
  const outcomes = Object.fromEntries(kinds.map((kind) => [kind, one.outcomes[kind] + other.outcomes[kind]]));
  return {
    outcomes: outcomes as RunSummary['outcomes'],
    embedded: one.embedded + other.embedded,
    chunks: one.chunks + other.chunks,
    ms: one.ms + other.ms,
    end: other.end,
  };
}

/** One control for all runs of a row: each call goes to the one that is under way. */
export function lastingControl(
  tell: ((control: RunControl) => void) | undefined,
): ((control: RunControl) => void) | undefined {
  if (tell === undefined) return undefined;
  let current: RunControl | undefined;
  return (control) => {
    const first = current === undefined;
    current = control;
    if (first) tell({ updateModel: (update) => current!.updateModel(update) });
  };
}
