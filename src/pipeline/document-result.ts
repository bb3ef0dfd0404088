import type { LedgerEntry } from '../contracts/sink.js';
import type { Document } from '../elements/document.js';
import type { Outcome } from '../elements/outcome.js';
import type { Written } from './batched-sink.js';

export interface DocumentResult {
  readonly outcome: Outcome;
  /** An earlier failed version of the document is thereby superseded. */
  readonly clearedFailure: boolean;
}

type Final = Exclude<Written, { kind: 'moved' }>;

export const stale: DocumentResult = { outcome: { kind: 'stale' }, clearedFailure: false };
const unchanged: DocumentResult = { outcome: { kind: 'unchanged' }, clearedFailure: false };

/** What became of a document whose version alone was to rise over that of `entry`. */
export function touchedResult(
  touched: Final,
  entry: LedgerEntry | undefined,
  { version }: Document,
): DocumentResult {
  if (touched.kind === 'done') return { ...unchanged, clearedFailure: touched.clearedFailure };
  // The very version that the store holds already: nothing to raise.
  return entry?.version === version ? unchanged : stale;
}

export function storedResult(stored: Final, chunks: number, embedded: number): DocumentResult {
  if (stored.kind === 'stale') return stale;
  return { outcome: { kind: 'stored', chunks, embedded }, clearedFailure: stored.clearedFailure };
}
