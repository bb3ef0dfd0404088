import { randomBytes } from 'node:crypto';
import type { Store } from '../../../src/contracts/store.js';
import { qdrantConfig } from '../../../connectors/qdrant/config.js';
import { createQdrantStore } from '../../../connectors/qdrant/qdrant-store.js';
import { startQdrant } from '../../support/qdrant/start.js';
import { testContext } from '../../support/test-context.js';
import { keptTextsSuite } from '../../suites/kept-texts-suite.js';
import { generationsSuite } from '../../suites/generations-suite.js';
import type { StoreHarness } from '../../suites/store-harness.js';
import { storeSuite } from '../../suites/store-suite.js';
import { termsSuite } from '../../suites/terms-suite.js';

const url = process.env['QDRANT_URL'];

// A real server where there is one, and collections of this run alone on it.
const name = url === undefined ? 'Qdrant (double)' : 'Qdrant';

const openHarness = async (): Promise<StoreHarness> => {
  const double = url === undefined ? await startQdrant() : undefined;
  const prefix = `suite-${randomBytes(4).toString('hex')}`;
  const stores: Store[] = [];
  return {
    open: async (pipeline) => {
      const config = qdrantConfig.parse({ url: url ?? double!.url, prefix, connections: 8 });
      const store = await createQdrantStore(config, testContext(pipeline));
      stores.push(store);
      return store;
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await double?.close();
    },
  };
};

storeSuite(name, openHarness);
termsSuite(name, openHarness);
generationsSuite(name, openHarness);
keptTextsSuite(name, openHarness);
