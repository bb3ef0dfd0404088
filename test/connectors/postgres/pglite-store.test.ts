import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../../src/contracts/store.js';
import { pgliteConfig } from '../../../connectors/postgres/config.js';
import { createPgliteStore } from '../../../connectors/postgres/pglite-store.js';
import { generationsSuite } from '../../suites/generations-suite.js';
import { keptTextsSuite } from '../../suites/kept-texts-suite.js';
import type { OpenHarness } from '../../suites/store-harness.js';
import { storeSuite } from '../../suites/store-suite.js';
import { termsSuite } from '../../suites/terms-suite.js';
import { testContext } from '../../support/test-context.js';

// The first handle owns the folder, all others work through its socket.
const openHarness: OpenHarness = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-pglite-'));
  const stores: Store[] = [];
  return {
    open: async (pipeline) => {
      const store = await createPgliteStore(
        pgliteConfig.parse({ path: 'store', index: 'auto' }),
        testContext(pipeline, folder),
      );
      stores.push(store);
      return store;
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await rm(folder, { recursive: true });
    },
  };
};

storeSuite('PGlite', openHarness);
generationsSuite('PGlite', openHarness);
keptTextsSuite('PGlite', openHarness);
termsSuite('PGlite', openHarness);
