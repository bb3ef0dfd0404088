import { resolve } from 'node:path';
import type { StoreFactory } from '../../src/contracts/store.js';
import type { PgliteConfig } from './config.js';
import { openPgliteConnection } from './pglite-connection.js';
import { createSqlStore } from './sql-store.js';

/** PGlite builds an index at 700 chunks a second and then takes in as few, so exact search is the better deal for long. */
const autoIndex = 200_000;

/** A store in a folder, by a Postgres embedded in this process. Nothing is made before `prepare`. */
export const createPgliteStore: StoreFactory<PgliteConfig> = async (config, context) =>
  createSqlStore(
    openPgliteConnection(resolve(context.baseFolder, config.path), context),
    {
      schema: 'millrace',
      index: config.index,
      vectors: config.vectors,
      keepText: config.keepText,
      autoIndex,
      shared: false,
    },
    context,
  );
