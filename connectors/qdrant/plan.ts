import type { DocumentWrite, TouchWrite } from '../../src/contracts/sink.js';
import { entryAfter, judge, type Verdict } from './judge.js';
import { textPoint, type LedgerRecord, type TextRef } from './ledger.js';
import { newWriteId } from './names.js';
import { textAfter } from './text-after.js';

/** A write that the fence let through, and the record that it stands on. */
export interface Plan {
  /** Its place in the call. */
  readonly at: number;
  readonly write: DocumentWrite;
  readonly base: LedgerRecord | undefined;
  /** The document's point in the ledger. */
  readonly id: string;
  readonly writeId: string;
  /** One above that of the last committed write: whoever read the same record has the same, and one of them wins. */
  readonly seq: number;
  /** Where what its source gave is kept from then on. */
  readonly text: TextRef | undefined;
}

/**
 * What is to be done of a write. One that the store holds already may still bring the text that is not kept.
 * @param keptSince the epoch since which texts are kept, undefined where they are not
 */
export function planWrite(
  { at, write, base, id }: Pick<Plan, 'at' | 'write' | 'base' | 'id'>,
  keptSince: number | undefined,
): Plan | Exclude<Verdict, 'go' | 'same'> {
  const writeId = newWriteId();
  const text = textAfter(write, writeId, base?.text, keptSince);
  const plan = { at, write, base, id, writeId, seq: (base?.seq ?? 0) + 1, text };
  const verdict = judge(write, base?.entry);
  if (verdict === 'go') return plan;
  if (verdict !== 'same') return verdict;
  const touch = bringsText(plan) && textPoint(base!, keptSince) === undefined ? touchOf(write) : undefined;
  return touch === undefined ? 'stale' : { ...plan, write: touch };
}

/** What the ledger says once a plan is carried out. @param followed a change of any kind is settled only once it is told */
export function recordAfter(plan: Plan, followed: boolean) {
  const { write, base, writeId, seq, text } = plan;
  const entry = entryAfter(write, base?.entry);
  if (write.kind === 'store' || write.kind === 'delete') return { entry, writeId, seq, text, settled: false };
  const settled = !followed && changedText(plan) === undefined;
  return { entry, writeId: base?.writeId, seq, text, settled };
}

/** What is kept of the document, where that is another text, or none any more. */
export function changedText({ base, text }: Pick<Plan, 'base' | 'text'>): TextRef | undefined {
  return text === base?.text ? undefined : text;
}

/** What its source gave is put in anew. */
export function bringsText({ writeId, text }: Pick<Plan, 'writeId' | 'text'>): boolean {
  return text?.write === writeId;
}

/** The document stays what it is, but for what is kept of it; undefined where a write brings nothing. */
export function touchOf(write: DocumentWrite): TouchWrite | undefined {
  if (!('given' in write) || write.given === undefined) return undefined;
  if (write.kind === 'touch') return write;
  const { chunks: _, spaces: __, ...rest } = write;
  return { ...rest, kind: 'touch' };
}
