import type { Redis } from 'ioredis';
import type { Clock } from '../../src/contracts/context.js';
import { connect, replyCode } from './client.js';
import type { RedisSourceConfig } from './config.js';
import type { EntryId } from './entry-id.js';
import { mayPass } from './refusal.js';

/** Confirms entries on a connection of its own, so that no confirmation waits behind a blocking read. */
export interface Confirmer {
  /** For the other small commands that must not wait. */
  readonly client: Redis;
  /** Whether its connection is being made again, or the server takes no confirmation for now. */
  readonly lost: boolean;
  confirm(ids: readonly EntryId[]): Promise<void>;
  /** Lets go of the connection. What is confirmed later gets one for the purpose. */
  release(): void;
}

const idsAtOnce = 1_000;
/** After a refusal that may pass, before the next try. */
const againMs = 200;

export interface ConfirmerOptions {
  readonly config: RedisSourceConfig;
  readonly group: string;
  /** Of its connection. */
  readonly name: string;
  readonly clock: Clock;
  /** Ends the making of the connection. */
  readonly signal: AbortSignal;
  /** Called each time the connection is lost or given up, before it is made again. */
  losing(): void;
}

export async function openConfirmer({
  config,
  group,
  name,
  clock,
  signal,
  losing,
}: ConfirmerOptions): Promise<Confirmer> {
  const client = await connect(config, { name, patient: true, signal });
  const over = new AbortController();
  let released = false;
  let refusing = 0;
  client.on('close', () => {
    if (!released) losing();
  });

  async function send(through: Redis, ids: readonly EntryId[]): Promise<void> {
    for (let from = 0; from < ids.length; from += idsAtOnce)
      await through.xack(config.stream, group, ...ids.slice(from, from + idsAtOnce));
  }

  /** Waits out what may pass. The client itself waits while there is no connection. */
  async function sendPatiently(ids: readonly EntryId[]): Promise<void> {
    for (;;) {
      try {
        return await send(client, ids);
      } catch (error) {
        if (released || replyCode(error) === undefined || !mayPass(error)) throw error;
      }
      refusing += 1;
      // Another server may be at the address by now.
      if (client.status === 'ready') client.disconnect(true);
      await clock.sleep(againMs, over.signal).catch(() => undefined);
      refusing -= 1;
    }
  }

  return {
    client,
    get lost() {
      return refusing > 0 || client.status !== 'ready';
    },
    async confirm(ids) {
      if (!released) return sendPatiently(ids);
      const late = await connect(config, { name, patient: false });
      try {
        await send(late, ids);
      } finally {
        late.disconnect();
      }
    },
    release() {
      released = true;
      over.abort();
      client.disconnect();
    },
  };
}
