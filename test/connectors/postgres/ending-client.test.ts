import { afterAll, beforeAll, expect, test } from 'vitest';
import { EndingClient } from '../../../connectors/postgres/ending-client.js';
import { patience } from '../../suites/store-harness.js';
import { startTcpProxy } from '../../support/faults/tcp-proxy.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';

let server: PostgresService;
beforeAll(async () => {
  server = await startPostgres();
}, patience);
afterAll(() => server?.stop());

test('a connection that was cut off in silence closes all the same, so that the process can end', async () => {
  const proxy = await startTcpProxy(Number(new URL(server.url).port));
  try {
    const clients = [0, 1].map(() => new EndingClient({ connectionString: proxy.through(server.url) }));
    for (const client of clients) {
      await client.connect();
      await client.query('select 1');
    }
    proxy.blackHole();
    const [first, second] = clients as [EndingClient, EndingClient];
    await first.end();
    expect(await new Promise<unknown>((resolve) => second.end(resolve))).toBeUndefined();
  } finally {
    await proxy.stop();
  }
});

test('one that was never made ends', async () => {
  await new EndingClient({ connectionString: server.url }).end();
});
