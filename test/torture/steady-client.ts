import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** Longer than any outage that a torture makes. */
const patienceMs = 120_000;

/** One connection that is made again when it is lost, and a work that is made again until it is done. */
export class SteadyClient {
  readonly #url: string;
  #client: pg.Client | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  /** @param work in one go; what it did before a fault is undone, or harmless a second time */
  async run<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    for (const until = Date.now() + patienceMs; ;) {
      try {
        return await work((this.#client ??= await this.#connect()));
      } catch (error) {
        if (!mayPass(error) || Date.now() > until) throw error;
        await this.close();
        await delay(20);
      }
    }
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.#url,
      connectionTimeoutMillis: 5_000,
      query_timeout: 30_000,
    });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
}

/** A deadlock, a key that another transaction made first, a server on its way down or up, a lost connection. */
function mayPass(error: unknown): boolean {
  const { code = '' } = error as { code?: string };
  return !(error instanceof pg.DatabaseError) || /^(40|57|08|53|23505)/.test(code);
}
