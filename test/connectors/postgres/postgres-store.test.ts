import type { Store } from '../../../src/contracts/store.js';
import { postgresConfig } from '../../../connectors/postgres/config.js';
import { createPostgresStore } from '../../../connectors/postgres/postgres-store.js';
import { startPostgres } from '../../support/services/postgres.js';
import { generationsSuite } from '../../suites/generations-suite.js';
import { keptTextsSuite } from '../../suites/kept-texts-suite.js';
import type { OpenHarness } from '../../suites/store-harness.js';
import { storeSuite } from '../../suites/store-suite.js';
import { termsSuite } from '../../suites/terms-suite.js';
import { testContext } from '../../support/test-context.js';

const openHarness: OpenHarness = async () => {
  const server = await startPostgres();
  const stores: Store[] = [];
  return {
    open: async (pipeline) => {
      const config = postgresConfig.parse({ url: server.url, schema: 'Mill"race' });
      const store = await createPostgresStore(config, testContext(pipeline));
      stores.push(store);
      return store;
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await server.stop();
    },
  };
};

storeSuite('Postgres', openHarness);
generationsSuite('Postgres', openHarness);
keptTextsSuite('Postgres', openHarness);
termsSuite('Postgres', openHarness);
