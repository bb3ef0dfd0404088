import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import type { Command, CommandContext } from '../../src/cli/command.js';
import {
  failedDiscardCommand,
  failedListCommand,
  failedPurgeCommand,
  failedReplayCommand,
  failedShowCommand,
} from '../../src/cli/failed-command.js';
import { loadConfig } from '../../src/config/load.js';
import { runPipeline } from '../../src/runtime/run.js';
import { startPostgres, type PostgresService } from '../support/services/postgres.js';
import { startRedis, type RedisService } from '../support/services/redis.js';
import { temporaryFolder, writeFiles } from '../support/temporary-folder.js';

let redis: RedisService;
let server: PostgresService;
beforeAll(async () => {
  [redis, server] = await Promise.all([startRedis(), startPostgres()]);
}, 60_000);
afterAll(() => Promise.all([redis?.stop(), server?.stop()]));

const places = {
  redis: () => `{ redis: { url: "${redis.url}", stream: failed } }`,
  postgres: () => `{ postgres: { url: "${server.url}" } }`,
};

/** Calls commands as the command line does, and keeps what they print for programs. */
function commandsIn(folder: string) {
  const printed: Record<string, unknown>[] = [];
  const ignore = () => undefined;
  const context: CommandContext = {
    output: {
      json: true,
      line: ignore,
      note: ignore,
      problem: ignore,
      data: (value) => void printed.push(JSON.parse(JSON.stringify(value)) as Record<string, unknown>),
    },
    connectors,
    cacheFolder: folder,
    env: {},
    load: (path) => loadConfig(path, { env: {}, connectors, cacheFolder: folder }),
  };
  const config = join(folder, 'millrace.yaml');
  return async <Arguments extends readonly unknown[]>(
    command: Command<[config: string, ...Arguments]>,
    ...args: Arguments
  ) => {
    printed.length = 0;
    expect(await command(context, config, ...args)).toBe(0);
    return [...printed];
  };
}

test.each(Object.entries(places))('every command on failed elements works on %s', async (kind, place) => {
  const folder = await temporaryFolder();
  await writeFiles(folder, {
    'docs/a.jsonl': '{"id":"good","text":"Ants dig."}\n{broken\n{"id":"none"}\n',
    'millrace.yaml': `name: cli\nsource: { files: { root: docs } }\nsink: { postgres: { url: "${server.url}", schema: ${kind} } }\nfailed: ${place()}\nworkers: 1\n`,
  });
  const call = commandsIn(folder);
  const spec = await loadConfig(join(folder, 'millrace.yaml'), { env: {}, connectors, cacheFolder: folder });
  expect((await runPipeline(spec, { connectors })).outcomes).toMatchObject({ stored: 1, failed: 2 });
  const listed = await call(failedListCommand, {});
  expect(listed).toMatchObject([
    { stage: 'source', error: { code: 'item_malformed' } },
    { stage: 'source', error: { code: 'item_malformed' } },
  ]);
  const [first, second] = listed.map(({ documentId }) => String(documentId)) as [string, string];
  expect((await call(failedListCommand, { prefix: first })).length).toBe(1);
  expect(await call(failedShowCommand, second)).toEqual([listed[1]]);
  expect(await call(failedReplayCommand, [], {})).toMatchObject([{ runs: [], unreadable: [first, second] }]);
  expect(await call(failedDiscardCommand, [first], {})).toEqual([{ discarded: 1 }]);
  expect(await call(failedPurgeCommand, { olderThan: 3_600_000 })).toEqual([{ purged: 0 }]);
  await expect.poll(() => call(failedPurgeCommand, { olderThan: 0 })).toEqual([{ purged: 1 }]);
  expect(await call(failedListCommand, {})).toEqual([]);
});
