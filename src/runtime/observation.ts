import type { Clock } from '../contracts/context.js';
import type { SourceContext } from '../contracts/source.js';
import { laterVersion, nextVersion, versionOf } from '../elements/version.js';
import type { BatchedSink } from '../pipeline/batched-sink.js';

/** Versions for a source that has none of its own. The position is microseconds since 1970. */
export type Observation = Pick<SourceContext, 'observe' | 'passStart'>;

export function createObservation(sink: Pick<BatchedSink, 'ledger'>, clock: Clock): Observation {
  let latest = 0;
  /** Never earlier than before, also when the machine's clock is set back. */
  const now = () => versionOf(0, BigInt((latest = Math.max(latest, Math.round(clock.now() * 1_000)))));
  return {
    passStart: async () => now(),
    observe: async (documentIds) => {
      const seen = now();
      const entries = await Promise.all(documentIds.map((id) => sink.ledger(id)));
      return entries.map((entry) => {
        const known = laterVersion(entry?.version, entry?.failedVersion);
        return known === undefined || seen > known ? seen : nextVersion(known);
      });
    },
  };
}
