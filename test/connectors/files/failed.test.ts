import { spawn, spawnSync } from 'node:child_process';
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { filesFailedConfig } from '../../../connectors/files/config.js';
import { openFailedFiles } from '../../../connectors/files/failed.js';
import type { Notice } from '../../../src/contracts/context.js';
import type { FailedStore } from '../../../src/contracts/failed-store.js';
import { versionOf } from '../../../src/elements/version.js';
import { connectorContext } from '../../support/connector-context.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { failedRecord, failedStoreSuite, recordsOf } from '../../suites/failed-store-suite.js';
import { openUnder } from './bed.js';

failedStoreSuite('a folder of JSON Lines', {
  async place() {
    const folder = await temporaryFolder();
    return async (pipeline) => (await openAt(folder, pipeline)).store;
  },
});

async function openAt(
  folder: string,
  pipeline = 'handbook',
  path?: string,
): Promise<{ store: FailedStore; notices: Notice[] }> {
  const context = connectorContext(folder, new VirtualClock(), pipeline);
  const store = await openFailedFiles(filesFailedConfig.parse(path === undefined ? {} : { path }), context);
  return { store, notices: context.notices };
}

const logFolder = (folder: string): string => join(folder, '.millrace/failed');

test('looking makes no file, and what is made is private', async () => {
  const folder = await temporaryFolder();
  const { store } = await openAt(folder);
  expect(await recordsOf(store)).toEqual([]);
  expect(await store.discard([failedRecord('a')])).toBe(0);
  expect(await readdir(folder)).toEqual([]);
  await store.put([failedRecord('a')]);
  expect((await stat(logFolder(folder))).mode & 0o777).toBe(0o700);
  const names = await readdir(logFolder(folder));
  expect(names).toEqual(['000001.jsonl']);
  expect((await stat(join(logFolder(folder), names[0]!))).mode & 0o777).toBe(0o600);
  await store.close();
  expect(await openUnder(folder)).toBe(0);
});

test('a write that was cut off is passed over, told once, and harms nothing before or after it', async () => {
  const folder = await temporaryFolder();
  const { store } = await openAt(folder);
  await store.put([failedRecord('a'), failedRecord('b')]);
  const file = join(logFolder(folder), '000001.jsonl');
  const { size } = await stat(file);
  await store.close();
  await truncate(file, size - 20);
  const later = await openAt(folder);
  expect(await recordsOf(later.store)).toEqual([failedRecord('a')]);
  await later.store.put([failedRecord('c')]);
  await appendFile(file, '{"kind":"failed","rec');
  await later.store.put([failedRecord('d')]);
  expect((await recordsOf(later.store)).map(({ documentId }) => documentId)).toEqual(['a', 'c', 'd']);
  expect(later.notices.map(({ code }) => code)).toEqual(['failed_file_damaged']);
  await later.store.close();
});

test('a folder that cannot be made is a refusal, which a mended folder ends', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'file'), '');
  const { store } = await openAt(folder, 'handbook', 'file/failed');
  await expect(store.put([failedRecord('a')])).rejects.toMatchObject({ code: 'failed_sink_unavailable' });
  await store.close();

  await mkdir(join(folder, 'full'));
  await symlink('/dev/full', join(folder, 'full/000001.jsonl'));
  const full = await openAt(folder, 'handbook', 'full');
  await expect(full.store.put([failedRecord('a')])).rejects.toMatchObject({
    code: 'failed_sink_unavailable',
  });
  await full.store.close();
  expect(await openUnder('/dev/full')).toBe(0);
});

test('a file that somebody removes meanwhile is begun anew', async () => {
  const folder = await temporaryFolder();
  const { store } = await openAt(folder);
  await store.put([failedRecord('a')]);
  await rm(join(folder, '.millrace'), { recursive: true });
  expect(await recordsOf(store)).toEqual([]);
  await store.put([failedRecord('b')]);
  expect(await recordsOf(store)).toEqual([failedRecord('b')]);
  await store.close();
});

const large = { kind: 'document', text: 'x'.repeat(20_000) } as const;

test('lines that no longer count are dropped when they are the most', async () => {
  const folder = await temporaryFolder();
  const { store } = await openAt(folder);
  const other = await openAt(folder, 'notes');
  await other.store.put([failedRecord('kept', 1, { pipeline: 'notes' })]);
  const first = '2026-01-01T00:00:00.000Z';
  await store.put([failedRecord('a', 1, { firstAt: first, attempts: 2 })]);
  for (let at = 0; at < 70; at++) await store.put([failedRecord('b', at, { element: large })]);
  await store.put([failedRecord('a', 1)]);
  const bytes = await sizeOf(logFolder(folder));
  expect(bytes).toBeLessThan(1_000_000);
  const expected = [
    failedRecord('a', 1, { firstAt: first, attempts: 3 }),
    failedRecord('b', 69, { element: large }),
  ];
  expect(await recordsOf(store)).toEqual(expected);
  // One that has the earlier file open goes on in the later one.
  expect(await recordsOf(other.store)).toEqual([failedRecord('kept', 1, { pipeline: 'notes' })]);
  await other.store.put([failedRecord('more', 1, { pipeline: 'notes' })]);
  expect((await recordsOf(other.store)).length).toBe(2);
  await store.close();
  await other.store.close();
  const anew = await openAt(folder);
  expect(await recordsOf(anew.store)).toEqual(expected);
  await anew.store.close();
});

async function sizeOf(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

const writer = fileURLToPath(new URL('./failed-writer.js', import.meta.url));

test('a write that the system cuts short is a refusal, and the record before it stays', async () => {
  const folder = await temporaryFolder();
  // Files may grow to 64 KiB here; the signal that would end the process is ignored, so that the write fails.
  const script = `trap '' XFSZ; ulimit -f 64; exec "$0" "$1" "$2" large 5`;
  const { stdout } = spawnSync('bash', ['-c', script, process.execPath, writer, folder], {
    encoding: 'utf8',
  });
  expect(stdout.trim().split('\n')).toEqual([
    'large-0',
    'large-1',
    'large-2',
    'failed_sink_unavailable',
    'failed_sink_unavailable',
  ]);
  const { store } = await openAt(folder);
  const ids = (await recordsOf(store)).map(({ documentId }) => documentId);
  expect(ids).toEqual(['large-0', 'large-1', 'large-2']);
  await store.put([failedRecord('after')]);
  expect((await recordsOf(store)).length).toBe(4);
  await store.close();
});

test('processes that are killed while they write and compact lose nothing that was put', async () => {
  const folder = await temporaryFolder();
  const promised = new Set<string>();
  for (let round = 0; round < 4; round++) {
    const writers = ['x', 'y'].map((name) => {
      const child = spawn(process.execPath, [writer, folder, `${name}${round}`, '100000']);
      onTestFinished(() => void child.kill('SIGKILL'));
      let printed = '';
      child.stdout.on('data', (data: Buffer) => (printed += data.toString()));
      const ended = new Promise<void>((resolve) => child.on('close', () => resolve()));
      return { child, ended, printed: () => printed };
    });
    await expect.poll(() => writers.every(({ printed }) => printed().length > 200)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 80 * round));
    for (const { child } of writers) child.kill('SIGKILL');
    for (const { ended, printed } of writers) {
      await ended;
      // A last line without its newline may be cut.
      for (const id of printed().split('\n').slice(0, -1)) promised.add(id);
    }
  }
  const { store } = await openAt(folder);
  const records = await recordsOf(store);
  const held = new Set(records.map(({ documentId }) => documentId));
  expect(held.size).toBe(records.length);
  expect([...promised].filter((id) => !held.has(id))).toEqual([]);
  expect(promised.size).toBeGreaterThan(100);
  // Several files were begun: the compaction ran, too.
  const generation = Math.max(...(await readdir(logFolder(folder))).map((name) => Number(name.slice(0, 6))));
  expect(generation).toBeGreaterThan(1);
  expect(records.every(({ element }) => element.text !== undefined)).toBe(true);
  await store.close();
}, 60_000);

test('a sealed file without a next one is taken over', async () => {
  const folder = await temporaryFolder();
  const { store } = await openAt(folder);
  await store.put([failedRecord('a'), failedRecord('b')]);
  const file = join(logFolder(folder), '000001.jsonl');
  await appendFile(file, '\n{"kind":"sealed","token":"x"}\n');
  const lost = JSON.stringify({ kind: 'failed', token: 'y', record: failedRecord('never counted') });
  await appendFile(file, `${lost}\n`);
  expect((await recordsOf(store)).length).toBe(2);
  expect(await store.discard([{ documentId: 'a', version: versionOf(0, 9n) }])).toBe(1);
  expect(await readdir(logFolder(folder))).toEqual(['000002.jsonl']);
  expect(await recordsOf(store)).toEqual([failedRecord('b')]);
  expect((await readFile(join(logFolder(folder), '000002.jsonl'), 'utf8')).includes('never counted')).toBe(
    false,
  );
  await store.close();
});
