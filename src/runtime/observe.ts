import type { Clock } from '../contracts/context.js';
import { laterVersion, nextVersion, versionOf, type Version } from '../elements/version.js';
import type { BatchedSink } from '../pipeline/batched-sink.js';

/**
 * Versions for a source that has none of its own: for each document the greater of now and the version after the newest
 * that the ledger knows. The position is microseconds since 1970.
 */
export function createObserve(sink: Pick<BatchedSink, 'ledger'>, clock: Clock) {
  return async (documentIds: readonly string[]): Promise<readonly Version[]> => {
    const now = versionOf(0, BigInt(Math.round(clock.now() * 1_000)));
    const entries = await Promise.all(documentIds.map((id) => sink.ledger(id)));
    return entries.map((entry) => {
      const known = laterVersion(entry?.version, entry?.failedVersion);
      return known === undefined || now > known ? now : nextVersion(known);
    });
  };
}
