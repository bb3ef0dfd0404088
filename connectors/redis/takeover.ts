import type { ConnectorContext } from '../../src/contracts/context.js';
import type { Commands } from './commands.js';
import type { RedisSourceConfig } from './config.js';
import type { Entry } from './decode.js';
import type { EntryId } from './entry-id.js';
import type { Held } from './held.js';

export interface TakeoverOptions {
  readonly config: RedisSourceConfig;
  readonly group: string;
  readonly consumer: string;
  readonly held: Held;
  readonly notify: ConnectorContext['notify'];
}

/** Entries taken over from consumers that are dead or stuck, by how often they were delivered in vain. */
export interface Taken {
  readonly entries: readonly Entry[];
  /** Delivered so often that they may have ended their process each time: to be tried alone, one at a time. */
  readonly suspects: readonly EntryId[];
  /** Tried alone too, and again in vain: to be failed unread. */
  readonly hopeless: readonly Entry[];
}

type Pending = [id: EntryId, consumer: string, idle: number, deliveries: number];

const atOnce = 200;

/** Takes over what nobody has confirmed for too long. Entries held by this process are left out. */
export async function takeOver(client: Commands, options: TakeoverOptions): Promise<Taken> {
  const { config, group, held } = options;
  const pending = (await client.call(
    ...(['XPENDING', config.stream, group, 'IDLE', config.claimIdleMs, '-', '+', atOnce] as const),
  )) as Pending[];
  const ours = held.ids();
  const idle = pending.filter(([id]) => !ours.has(id));
  const idsOf = (wanted: (deliveries: number) => boolean) =>
    idle.flatMap(([id, , , deliveries]) => (wanted(deliveries) ? [id] : []));
  const { maxDeliveries } = config;
  return {
    entries: await claim(
      client,
      idsOf((deliveries) => deliveries < maxDeliveries),
      options,
    ),
    suspects: idsOf((deliveries) => deliveries === maxDeliveries),
    hopeless: await claim(
      client,
      idsOf((deliveries) => deliveries > maxDeliveries),
      options,
    ),
  };
}

/** Makes entries this consumer's, unless another one was first. Each counts as delivered once more. */
export async function claim(
  client: Commands,
  ids: readonly EntryId[],
  { config, group, consumer, notify }: TakeoverOptions,
): Promise<Entry[]> {
  if (ids.length === 0) return [];
  const reply = (await client.call(
    ...(['XCLAIM', config.stream, group, consumer, config.claimIdleMs, ...ids] as const),
  )) as [EntryId, string[]][] | null[];
  const entries = reply.flatMap((one) => (one === null ? [] : [{ id: one[0], fields: one[1] }]));
  const missing = ids.filter((id) => entries.every((entry) => entry.id !== id));
  const gone = await countGone(client, config.stream, missing);
  if (gone > 0)
    notify({
      level: 'warn',
      code: 'entries_lost',
      message: `${gone} entries of ${config.stream} were trimmed or deleted after they were read and before they were confirmed.`,
    });
  return entries;
}

/** Of entries that could not be taken over: how many no longer exist. The others were taken by somebody else. */
async function countGone(client: Commands, stream: string, ids: readonly EntryId[]): Promise<number> {
  const found = await Promise.all(
    ids.map((id) => client.call('XRANGE', stream, id, id) as Promise<unknown[]>),
  );
  return found.filter((entries) => entries.length === 0).length;
}
