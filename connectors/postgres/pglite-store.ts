import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { StoreFactory } from '../../src/contracts/store.js';
import type { PgliteConfig } from './config.js';
import { openPgliteConnection } from './pglite-connection.js';
import { wantedColumns } from './config-columns.js';
import { createSqlStore } from './sql-store.js';

/** PGlite builds an index at 700 chunks a second and then takes in as few, so exact search is the better deal for long. */
const autoIndex = 200_000;

/** A store in a folder, by a Postgres embedded in this process. Nothing is made before `prepare`. */
export const createPgliteStore: StoreFactory<PgliteConfig> = async (config, context) => {
  const path = resolve(context.baseFolder, config.path);
  return createSqlStore(
    openPgliteConnection(path, context),
    {
      schema: 'millrace',
      index: config.index,
      vectors: config.vectors,
      columns: wantedColumns(config.columns, config.tenant),
      keepText: config.keepText,
      autoIndex,
      shared: false,
      freeBytes: async () => {
        const { bavail, bsize } = await statfs(path);
        return bavail * bsize;
      },
    },
    context,
  );
};
