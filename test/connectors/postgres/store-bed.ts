import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { pgliteConfig, postgresConfig } from '../../../connectors/postgres/config.js';
import { createPgliteStore } from '../../../connectors/postgres/pglite-store.js';
import { createPostgresStore } from '../../../connectors/postgres/postgres-store.js';
import type { Store } from '../../../src/contracts/store.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';
import { testContext } from '../../support/test-context.js';
import { patience } from '../../suites/store-harness.js';

/** Stores of a file of tests on one server and in one folder; all of it goes in the end. */
export interface StoreBed {
  readonly url: string;
  readonly folder: string;
  /** @param options of the `postgres` sink beside the address */
  onServer(pipeline: string, options: object, context?: ReturnType<typeof testContext>): Promise<Store>;
  /** @param options of the `pglite` sink beside the path */
  inFolder(pipeline: string, options: object): Promise<Store>;
  /** The rows of a statement on a connection of its own. */
  onAdmin(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

/** To be called inside `describe`. */
export function storeBed(): StoreBed {
  let server: PostgresService;
  let folder: string;
  const stores: Store[] = [];
  const kept = <One extends Store>(store: One): One => {
    stores.push(store);
    return store;
  };

  beforeAll(async () => {
    server = await startPostgres();
    folder = await mkdtemp(join(tmpdir(), 'millrace-stores-'));
  }, patience);
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await server?.stop();
    await rm(folder, { recursive: true });
  }, patience);

  return {
    get url() {
      return server.url;
    },
    get folder() {
      return folder;
    },
    onServer: async (pipeline, options, context = testContext(pipeline)) =>
      kept(
        await createPostgresStore(
          postgresConfig.parse({ url: server.url, connections: 2, ...options }),
          context,
        ),
      ),
    inFolder: async (pipeline, options) =>
      kept(
        await createPgliteStore(
          pgliteConfig.parse({ path: 'store', ...options }),
          testContext(pipeline, folder),
        ),
      ),
    onAdmin: async (sql, values = []) => {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      return (await client.query(sql, values).finally(() => client.end())).rows as Record<string, unknown>[];
    },
  };
}
