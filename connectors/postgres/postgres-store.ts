import type { StoreFactory } from '../../src/contracts/store.js';
import type { PostgresConfig } from './config.js';
import { openPgConnection } from './pg-connection.js';
import { wantedColumns } from './config-columns.js';
import { createSqlStore } from './sql-store.js';

/** Chunks from which a server's exact search gets slow: about 30 ms at 384 components. */
const autoIndex = 50_000;

/** A store on a Postgres server with pgvector. Connects at its first use. */
export const createPostgresStore: StoreFactory<PostgresConfig> = async (config, context) =>
  createSqlStore(
    openPgConnection(config, context),
    {
      schema: config.schema,
      index: config.index,
      vectors: config.vectors,
      columns: wantedColumns(config.columns, config.tenant),
      keepText: config.keepText,
      view: config.view,
      autoIndex,
      shared: true,
    },
    context,
  );
