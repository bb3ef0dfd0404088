import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresUpdates } from '../../../connectors/postgres/updates.js';
import { updatesConfig } from '../../../connectors/postgres/config.js';
import { connectors } from '../../../connectors/registry.js';
import { parsePipeline } from '../../../src/config/parse.js';
import type { ModelUpdate } from '../../../src/contracts/model-updates.js';
import { startPostgres, type PostgresService } from '../../support/services/postgres.js';
import { patience } from '../../suites/store-harness.js';
import { testContext } from '../../support/test-context.js';

describe('news of models by NOTIFY', { timeout: patience }, () => {
  let server: PostgresService;
  beforeAll(async () => {
    server = await startPostgres();
  }, patience);
  afterAll(() => server?.stop(), patience);

  const asAdmin = async (sql: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return client.query(sql, values).finally(() => client.end());
  };
  const notify = (payload: unknown, channel = 'millrace_models') =>
    asAdmin('select pg_notify($1, $2)', [
      channel,
      typeof payload === 'string' ? payload : JSON.stringify(payload),
    ]);
  const listening = (count: number) =>
    expect
      .poll(
        async () =>
          (await asAdmin("select from pg_stat_activity where query like 'listen %' and state = 'idle'"))
            .rowCount,
        { timeout: 20_000 },
      )
      .toBe(count);

  /** Hears until stopped. */
  async function hear(channel?: string) {
    const context = testContext('models');
    const stop = new AbortController();
    const heard: ModelUpdate[] = [];
    const updates = await createPostgresUpdates(updatesConfig.parse({ url: server.url, channel }), context);
    const ended = (async () => {
      for await (const update of updates.updates(stop.signal)) heard.push(update);
    })();
    return {
      heard,
      notices: context.notices,
      end: async () => {
        stop.abort(new Error('enough'));
        await ended;
      },
    };
  }

  it('are heard in their order, on their channel only, and end with the signal', async () => {
    const ear = await hear();
    await listening(1);
    const weights = 'a'.repeat(64);
    await notify({ model: './one' });
    await notify({ model: './elsewhere' }, 'other');
    await notify({ model: 'owner/two', revision: 'v2', weights });
    await expect.poll(() => ear.heard.length).toBe(2);
    expect(ear.heard).toEqual([{ model: './one' }, { model: 'owner/two', revision: 'v2', weights }]);
    await ear.end();
    await listening(0);
  });

  it('that are no update are told, and passed over', async () => {
    const ear = await hear('models_2');
    await listening(1);
    for (const wrong of ['not json', '{}', { model: 'm', weights: 'short' }, { model: 'm', run: 'rm' }])
      await notify(wrong, 'models_2');
    await notify({ model: './right' }, 'models_2');
    await expect.poll(() => ear.heard).toEqual([{ model: './right' }]);
    expect(ear.notices.map(({ code }) => code)).toEqual(Array(4).fill('model_update_malformed'));
    await ear.end();
  });

  it('are heard again after the server was away, which is told', async () => {
    const ear = await hear();
    await listening(1);
    await server.restart();
    await listening(1);
    expect(ear.notices.map(({ code }) => code)).toContain('model_updates_lost');
    await notify({ model: './after' });
    await expect.poll(() => ear.heard).toEqual([{ model: './after' }]);
    await ear.end();
  });

  it('cannot come from the embedded store: the configuration is refused', () => {
    const input = { name: 'a', source: { files: { root: '.' } }, refresh: { events: { pglite: {} } } };
    const options = { connectors, baseFolder: '/', cacheFolder: '/', origin: 'It' };
    expect(() => parsePipeline(input, options)).toThrow(/refresh\.events.*postgres/s);
    const server = { ...input, refresh: { events: { postgres: { url: 'postgres://db/x' } } } };
    expect(parsePipeline(server, options).refresh?.events).toEqual({
      connector: 'postgres',
      config: { url: 'postgres://db/x', channel: 'millrace_models' },
    });
  });
});
