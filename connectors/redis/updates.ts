import { resolve } from 'node:path';
import type { Redis } from 'ioredis';
import type { ConnectorContext } from '../../src/contracts/context.js';
import type { ModelUpdate, ModelUpdates, ModelUpdatesFactory } from '../../src/contracts/model-updates.js';
import { modelUpdateSchema } from '../../src/elements/model-update.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { connect } from './client.js';
import type { RedisUpdatesConfig } from './config.js';
import { compareIds, zeroId, type EntryId } from './entry-id.js';
import { mayPass } from './refusal.js';

type Entries = readonly [EntryId, readonly string[]][];

const longestWaitMs = 5_000;
const entriesAtOnce = 100;
/** The last one repeats for as long as Redis is away. */
const reconnectMs = [200, 1_000, 5_000, 15_000];

/**
 * News of models from a Redis stream. Without a group: every process reads every entry from its own start on, also those
 * that come while its connection is lost.
 */
export const openRedisUpdates: ModelUpdatesFactory<RedisUpdatesConfig> = async (given, context) => {
  const config = {
    ...given,
    ...(given.ca !== undefined && { ca: resolve(context.baseFolder, given.ca) }),
  };
  return {
    async *updates(signal) {
      const reading = new Reading(config, context);
      for (let tries = 0; !signal.aborted; tries += 1) {
        let client: Redis | undefined;
        const disconnect = () => client?.disconnect();
        signal.addEventListener('abort', disconnect, { once: true });
        try {
          client = await connect(config, { name: 'millrace models', patient: false });
          for await (const update of reading.updates(client, signal)) {
            tries = 0;
            yield update;
          }
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof MillraceError) && !mayPass(error)) throw refused(config.stream, error);
          const delay = reconnectMs[Math.min(tries, reconnectMs.length - 1)]!;
          const { message } = error as Error;
          context.notify({
            level: 'warn',
            code: 'model_updates_lost',
            message: `Reading ${config.stream} was interrupted (${message}); it goes on in ${delay} ms where it was.`,
          });
          await context.clock.sleep(delay, signal).catch(() => undefined);
        } finally {
          signal.removeEventListener('abort', disconnect);
          client?.disconnect();
        }
      }
    },
  } satisfies ModelUpdates;
};

/** The way through the stream, which a new connection goes on with. */
class Reading {
  readonly #config: RedisUpdatesConfig;
  readonly #context: ConnectorContext;
  /** The entry read last; undefined before the beginning is known. */
  #at: EntryId | undefined;

  constructor(config: RedisUpdatesConfig, context: ConnectorContext) {
    this.#config = config;
    this.#context = context;
  }

  async *updates(client: Redis, signal: AbortSignal): AsyncGenerator<ModelUpdate> {
    const { stream, timeoutMs } = this.#config;
    const block = Math.min(longestWaitMs, Math.ceil(timeoutMs / 2));
    while (!signal.aborted) {
      const last = await lastId(client, stream);
      // One with lower ids has begun anew: all of it is news.
      this.#at = this.#at === undefined ? last : compareIds(last, this.#at) < 0 ? zeroId : this.#at;
      const reply = await client.xread('COUNT', entriesAtOnce, 'BLOCK', block, 'STREAMS', stream, this.#at);
      for (const [id, fields] of (reply?.[0]?.[1] ?? []) as Entries) {
        this.#at = id;
        const update = this.#read(id, fields);
        if (update !== undefined) yield update;
      }
    }
  }

  #read(id: EntryId, fields: readonly string[]): ModelUpdate | undefined {
    const pairs = fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1]] as const] : []));
    const parsed = modelUpdateSchema.safeParse(Object.fromEntries(pairs));
    if (parsed.success) return parsed.data;
    this.#context.notify({
      level: 'warn',
      code: 'model_update_malformed',
      message: `Entry ${id} of ${this.#config.stream} is no update of a model; expected the fields model, and where need be revision and weights (SHA-256).`,
    });
    return undefined;
  }
}

/** The greatest id that the stream ever gave; `0-0` where there is none. */
async function lastId(client: Redis, stream: string): Promise<EntryId> {
  if ((await client.exists(stream)) === 0) return zeroId;
  const info = (await client.xinfo('STREAM', stream)) as unknown[];
  return String(info[info.indexOf('last-generated-id') + 1]);
}

function refused(stream: string, cause: unknown): MillraceError {
  return new MillraceError(
    'source_unavailable',
    `Redis refuses to let ${stream} be read for news of models.`,
    {
      cause,
      hint: 'Is the key a stream, and may this user read it (XREAD, XINFO, EXISTS)?',
    },
  );
}
