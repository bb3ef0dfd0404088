import type { SourceState } from '../../../src/contracts/source.js';
import type { Json } from '../../../src/elements/metadata.js';
import type { LsnText } from './lsn.js';

/** What the store remembers of the source, for all processes that read it. */
export type SourceMemory = {
  /** Rises when positions can go backwards, or changes may be missing. */
  readonly epoch: number;
  readonly system: string;
  readonly timeline: number;
  readonly slot: string;
  /** At least what was ever confirmed to the server: a slot beyond it has lost changes. */
  readonly confirmed: LsnText;
  /** Digest of how rows become documents: another one asks for all rows again. */
  readonly mapping: string;
  /** Families of the types of mapped columns, by table and column. */
  readonly types: { readonly [table: string]: { readonly [column: string]: string } };
  /** null: all rows that were there have been read, and what was gone is deleted. */
  readonly backfill: BackfillMemory | null;
  /** The process that reads, and its pulse: one that stands still is dead. */
  readonly holder: string;
  readonly beat: number;
};

export type BackfillMemory = {
  /** Rows read are versions of this position: every change after it is newer. */
  readonly point: LsnText;
  /** By the oid of the table: key of the last row that is durable, or `done`. */
  readonly tables: { readonly [oid: string]: readonly string[] | 'done' };
  /** Read so far. */
  readonly rows: number;
};

/** Changes the memory by `change` until no other process came between; undefined leaves it as it is. */
export async function remember(
  state: SourceState,
  change: (known: SourceMemory | undefined) => SourceMemory | undefined,
): Promise<SourceMemory | undefined> {
  for (;;) {
    const held = (await state.read()) as (SourceMemory & Json) | undefined;
    const next = change(held);
    if (next === undefined) return held;
    if (await state.replace(held, next as Json)) return next;
  }
}
