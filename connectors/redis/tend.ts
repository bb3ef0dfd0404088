import type { Redis } from 'ioredis';
import type { Clock } from '../../src/contracts/context.js';
import type { SourceContext } from '../../src/contracts/source.js';
import { commandsOf } from './commands.js';
import type { Group } from './group.js';
import { keepAlive, type KeepAliveOptions } from './keep-alive.js';
import { measureLag } from './lag.js';
import type { Outage } from './outage.js';

export interface TendOptions {
  /** Not the one that may be blocked by reading. */
  readonly client: Redis;
  readonly group: Group;
  readonly keep: KeepAliveOptions;
  readonly outage: Outage;
  readonly clock: Clock;
  readonly lag: SourceContext['lag'];
  readonly signal: AbortSignal;
}

const recordEveryMs = 5_000;

/**
 * While a reading lasts, beside it: keeps what is held from being taken over, and the store informed of how far the group
 * has come; measures how far it is behind.
 */
export async function tend({ client, group, keep, outage, clock, lag, signal }: TendOptions): Promise<void> {
  const { config } = keep;
  let recordAt = clock.now() + recordEveryMs;
  let recording: Promise<void> | undefined;
  while (!signal.aborted) {
    try {
      await clock.sleep(Math.min(config.claimIdleMs / 3, recordEveryMs), signal);
      await keepAlive(client, keep);
      if (clock.now() < recordAt) continue;
      recordAt = clock.now() + recordEveryMs;
      // A store that is away must not keep this from tending.
      recording ??= group
        .record(commandsOf(client))
        .catch(() => undefined)
        .finally(() => (recording = undefined));
      if (!outage.goesOn) lag(await measureLag(client, config.stream, keep.group, clock.now()));
    } catch {
      // A lost connection or group: the reading tells of it, and mends it.
    }
  }
  await recording;
}
