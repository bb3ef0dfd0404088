import type { Clock } from '../contracts/context.js';
import type { LedgerEntry } from '../contracts/sink.js';
import type { SourceContext } from '../contracts/source.js';
import { laterVersion, nextVersion, positionAfter, versionOf, type Version } from '../elements/version.js';

/** Versions for a source that has none of its own. The position is microseconds since 1970. */
export type Observation = Pick<SourceContext, 'observe' | 'passStart'>;

interface Ledger {
  ledger(documentId: string): Promise<Pick<LedgerEntry, 'version' | 'failedVersion'> | undefined>;
}

export function createObservation(sink: Ledger, clock: Pick<Clock, 'now'>): Observation {
  let latest = 0;
  /** Never earlier than before, also when the machine's clock is set back. */
  const now = (least = latest) =>
    versionOf(0, BigInt((latest = Math.max(least, Math.round(clock.now() * 1_000)))));
  return {
    // Above all that was given, also while the clock is behind that.
    passStart: async () => now(latest + 1),
    observe: async (documentIds) => {
      const seen = now();
      const entries = await Promise.all(documentIds.map((id) => sink.ledger(id)));
      return entries.map((entry) => {
        const known = laterVersion(entry?.version, entry?.failedVersion);
        return known === undefined || seen > known ? seen : beyond(known);
      });
    },
  };

  /**
   * Above what a process with another clock gave. From then on it is that late here too (Lamport's rule), so that a pass
   * that begins later is above all that was given before.
   */
  function beyond(known: Version): Version {
    const version = nextVersion(known);
    latest = Math.max(latest, positionAfter(version));
    return version;
  }
}
