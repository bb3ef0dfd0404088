import type { Redis } from 'ioredis';
import { connect } from './client.js';
import type { RedisSourceConfig } from './config.js';
import type { EntryId } from './entry-id.js';

/** Confirms entries on a connection of its own, so that no confirmation waits behind a blocking read. */
export interface Confirmer {
  /** For the other small commands that must not wait. */
  readonly client: Redis;
  /** Whether its connection is being made again. */
  readonly lost: boolean;
  confirm(ids: readonly EntryId[]): Promise<void>;
  /** Lets go of the connection. What is confirmed later gets one for the purpose. */
  release(): void;
}

const idsAtOnce = 1_000;

/** @param losing called each time the connection is lost, before it is made again */
export async function openConfirmer(
  config: RedisSourceConfig,
  group: string,
  name: string,
  losing: () => void,
): Promise<Confirmer> {
  const client = await connect(config, { name, patient: true });
  let released = false;
  client.on('close', () => {
    if (!released) losing();
  });

  async function send(through: Redis, ids: readonly EntryId[]): Promise<void> {
    for (let from = 0; from < ids.length; from += idsAtOnce)
      await through.xack(config.stream, group, ...ids.slice(from, from + idsAtOnce));
  }

  return {
    client,
    get lost() {
      return client.status !== 'ready';
    },
    async confirm(ids) {
      if (!released) return send(client, ids);
      const late = await connect(config, { name, patient: false });
      try {
        await send(late, ids);
      } finally {
        late.disconnect();
      }
    },
    release() {
      released = true;
      client.disconnect();
    },
  };
}
