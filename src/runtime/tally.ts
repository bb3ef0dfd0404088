import type { Outcome, OutcomeKind } from '../elements/outcome.js';
import type { RunSummary } from '../observability/events.js';

/** Counts outcomes. */
export class Tally {
  readonly #outcomes: Record<OutcomeKind, number> = {
    stored: 0,
    unchanged: 0,
    stale: 0,
    deleted: 0,
    failed: 0,
  };
  #embedded = 0;
  #chunks = 0;

  add(outcome: Outcome): void {
    this.#outcomes[outcome.kind] += 1;
    if (outcome.kind !== 'stored') return;
    this.#embedded += outcome.embedded;
    this.#chunks += outcome.chunks;
  }

  summary(ms: number, end: RunSummary['end']): RunSummary {
    return { outcomes: { ...this.#outcomes }, embedded: this.#embedded, chunks: this.#chunks, ms, end };
  }
}
