import { afterAll, beforeAll } from 'vitest';
import { sourceSuite } from '../../../suites/source-suite.js';
import { patience } from '../../../suites/store-harness.js';
import { heldBy, openTable, startCdcServer, type CdcServer } from './bed.js';

let server: CdcServer;
let tables = 0;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

sourceSuite('postgres', {
  async fill(documents) {
    const pipeline = `suite_${(tables += 1)}`;
    await server.sql(`create table ${pipeline} (id text primary key, body text)`);
    const client = await server.connect();
    await client.query(`insert into ${pipeline} select * from unnest($1::text[], $2::text[])`, [
      [...documents.keys()],
      [...documents.values()],
    ]);
    await client.end();
    const { source } = await openTable(server, pipeline, { heartbeatMs: 1_000 });
    return { source, held: () => heldBy(server, pipeline) };
  },
});
