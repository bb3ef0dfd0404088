import pg from 'pg';
import type { ModelUpdate, ModelUpdates, ModelUpdatesFactory } from '../../src/contracts/model-updates.js';
import type { ConnectorContext } from '../../src/contracts/context.js';
import { modelUpdateSchema } from '../../src/elements/model-update.js';
import type { UpdatesConfig } from './config.js';
import { EndingClient } from './ending-client.js';
import { classifySqlError } from './sql-error.js';

/** The last one repeats for as long as the server is away. */
const reconnectMs = [200, 1_000, 5_000, 15_000];

/** News of models from `NOTIFY`, on a connection of its own. What is notified while it is lost is not heard. */
export const createPostgresUpdates: ModelUpdatesFactory<UpdatesConfig> = async (config, context) => {
  const { host, port, database } = new pg.Client({ connectionString: config.url });
  const where = `Postgres at ${host}:${port}/${database ?? ''}`;
  return {
    async *updates(signal) {
      for (let tries = 0; !signal.aborted; tries += 1) {
        const session = new Session(config, where, context);
        const stop = () => void session.end();
        signal.addEventListener('abort', stop, { once: true });
        try {
          await session.open();
          tries = 0;
          yield* session.updates();
        } catch (error) {
          if (signal.aborted) return;
          const delay = reconnectMs[Math.min(tries, reconnectMs.length - 1)]!;
          context.notify({
            level: 'warn',
            code: 'model_updates_lost',
            message: `${classifySqlError(error, where, true).message}; listening again in ${delay} ms, and what is notified meanwhile is not heard.`,
          });
          await context.clock.sleep(delay, signal).catch(() => undefined);
        } finally {
          signal.removeEventListener('abort', stop);
          await session.end();
        }
      }
    },
  } satisfies ModelUpdates;
};

/** One connection that listens. */
class Session {
  readonly #client: pg.Client;
  readonly #config: UpdatesConfig;
  readonly #where: string;
  readonly #context: ConnectorContext;
  readonly #heard: ModelUpdate[] = [];
  #fault: Error | undefined;
  #ended = false;
  #wake: () => void = () => undefined;

  constructor(config: UpdatesConfig, where: string, context: ConnectorContext) {
    this.#config = config;
    this.#where = where;
    this.#context = context;
    this.#client = new EndingClient({
      connectionString: config.url,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      application_name: 'millrace',
    });
    this.#client.on('notification', ({ payload }) => this.#hear(payload ?? ''));
    this.#client.on('error', (error) => this.#lose(error));
    this.#client.on('end', () => this.#lose(new Error('the connection was closed')));
  }

  async open(): Promise<void> {
    await this.#client.connect();
    await this.#client.query(`listen ${pg.escapeIdentifier(this.#config.channel)}`);
  }

  /** Ends when `end` is called. @throws what broke the connection */
  async *updates(): AsyncGenerator<ModelUpdate> {
    for (;;) {
      for (let next = this.#heard.shift(); next !== undefined; next = this.#heard.shift()) yield next;
      if (this.#ended) return;
      if (this.#fault !== undefined) throw this.#fault;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#wake();
    await this.#client.end().catch(() => undefined);
  }

  #lose(error: Error): void {
    this.#fault ??= error;
    this.#wake();
  }

  #hear(text: string): void {
    const parsed = modelUpdateSchema.safeParse(parseJson(text));
    if (parsed.success) {
      this.#heard.push(parsed.data);
      this.#wake();
      return;
    }
    this.#context.notify({
      level: 'warn',
      code: 'model_update_malformed',
      message: `${this.#where}: a notification on ${this.#config.channel} is no update of a model; expected {"model": "…", "revision": "…", "weights": "<SHA-256>"}, the last two where need be.`,
    });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
