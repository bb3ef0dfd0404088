import type { Backfill } from './backfill.js';
import type { Lsn } from './lsn.js';
import type { BackfillMemory } from './memory.js';
import type { Watermark } from './watermark.js';

/** What is durable of a session. */
export interface Progress {
  readonly durable: Lsn;
  /** null: ended. */
  readonly backfill: BackfillMemory | null;
}

export function progressOf(session: {
  readonly watermark: Watermark;
  readonly backfill: { readonly reading: Backfill } | undefined;
}): Progress {
  return { durable: session.watermark.durable, backfill: session.backfill?.reading.memory ?? null };
}
