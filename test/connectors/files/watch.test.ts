import { appendFile, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isFresh } from '../../../connectors/files/stamp.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.js';
import { openUnder } from './bed.js';
import { watch } from './watching.js';

test('changed and new files are read once they rest, and only they', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'a', 'b.md': 'b' });
  const watching = await watch(root);
  expect(watching.first).toEqual({ 'a.md': 'stored: a', 'b.md': 'stored: b' });
  expect(await watching.look(3)).toEqual({});
  await writeFiles(root, { 'b.md': 'longer b', 'new/c.md': 'c' });
  expect(await watching.look()).toEqual({});
  expect(await watching.look()).toEqual({ 'b.md': 'stored: longer b', 'new/c.md': 'stored: c' });
  expect(await watching.look(3)).toEqual({});
  await watching.stop();
  expect(await openUnder(root)).toBe(0);
});

test('a touched file is unchanged, and one that is written without end is read all the same', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'a', 'log.txt': '' });
  const watching = await watch(root);
  await utimes(join(root, 'a.md'), new Date(0), new Date(0));
  expect(await watching.look(2)).toEqual({ 'a.md': 'unchanged: a' });
  let reads = 0;
  for (let time = 0; time < 25; time++) {
    await appendFile(join(root, 'log.txt'), '+');
    const seen = await watching.look();
    if ('log.txt' in seen) reads += 1;
  }
  expect(reads).toBe(2);
  await watching.stop();
});

test('a file that is gone for two looks is deleted; one that comes back at once is not', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'a', 'sub/b.md': 'b', 'sub/bb.md': 'bb' });
  const watching = await watch(root);
  await rename(join(root, 'a.md'), join(root, 'a.part'));
  await rm(join(root, 'sub/b.md'));
  expect(await watching.look()).toEqual({});
  await rename(join(root, 'a.part'), join(root, 'a.md'));
  expect(await watching.look()).toEqual({ 'sub/b.md': 'deleted: deleted' });
  expect(await watching.look(3)).toEqual({ 'a.md': 'unchanged: a' });
  await writeFiles(root, { 'sub/b.md': 'b is back' });
  expect(await watching.look(2)).toEqual({ 'sub/b.md': 'stored: b is back' });
  await watching.stop();
});

test('a renamed file is a new one and a deletion', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'a' });
  const watching = await watch(root);
  await rename(join(root, 'a.md'), join(root, 'b.md'));
  expect(await watching.look(2)).toEqual({ 'a.md': 'deleted: deleted', 'b.md': 'stored: a' });
  expect(watching.ledger.texts()).toEqual({ 'b.md': 'a' });
  await watching.stop();
});

test('far too many files gone at once stop the run and delete nothing', async () => {
  const root = await temporaryFolder();
  await writeFiles(
    root,
    Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`d${at % 2}/${at}.md`, 'x'])),
  );
  const watching = await watch(root);
  await rm(join(root, 'd1'), { recursive: true });
  await expect(watching.look(2)).rejects.toMatchObject({ code: 'mass_deletion' });
  expect(Object.keys(watching.ledger.texts()).length).toBe(60);

  const allowed = await watch(root, { allowMassDeletion: true });
  await rm(join(root, 'd0'), { recursive: true });
  expect(Object.keys(await allowed.look(2)).length).toBe(30);
  await allowed.stop();
});

test('twenty files may go at once', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at}.md`, 'x'])));
  const watching = await watch(root);
  await rm(root, { recursive: true });
  await mkdir(root);
  expect(Object.keys(await watching.look(2)).length).toBe(20);
  await watching.stop();
});

test('a root that is away for a while has lost nothing', async () => {
  const root = join(await temporaryFolder(), 'docs');
  await writeFiles(root, { 'a.md': 'a' });
  const watching = await watch(root);
  await rename(root, `${root}-away`);
  expect(await watching.look(5)).toEqual({});
  expect(watching.notices.map(({ code }) => code)).toEqual(['root_unavailable']);
  await rename(`${root}-away`, root);
  expect(await watching.look(3)).toEqual({});
  expect(watching.ledger.texts()).toEqual({ 'a.md': 'a' });
  await watching.stop();
});

test('a line that leaves a JSON Lines file is deleted, and a file that goes takes all of its lines', async () => {
  const root = await temporaryFolder();
  const line = (id: number, text: string): string => `{"id":${id},"text":"${text}"}\n`;
  await writeFiles(root, {
    'a.jsonl': line(1, 'one') + line(2, 'two'),
    'a.jsonl.md': 'neighbour',
    'b.jsonl': line(1, 'b'),
  });
  const watching = await watch(root);
  await writeFile(join(root, 'a.jsonl'), line(2, 'two changed') + line(3, 'three'));
  expect(await watching.look(2)).toEqual({
    'a.jsonl/1': 'swept',
    'a.jsonl/2': 'stored: two changed',
    'a.jsonl/3': 'stored: three',
  });
  await rm(join(root, 'a.jsonl'));
  expect(await watching.look(2)).toEqual({ 'a.jsonl/2': 'swept', 'a.jsonl/3': 'swept' });
  expect(watching.ledger.texts()).toEqual({ 'a.jsonl.md': 'neighbour', 'b.jsonl/1': 'b' });
  await watching.stop();
});

test('an unfinished last line waits, and its old document stays', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.jsonl': '{"id":1,"text":"one"}\n{"id":2,"text":"old"}\n' });
  const watching = await watch(root);
  await writeFile(join(root, 'a.jsonl'), '{"id":1,"text":"one"}\n{"id":2,"text":"n');
  expect(await watching.look(4)).toEqual({ 'a.jsonl/1': 'unchanged: one' });
  expect(watching.ledger.texts()).toEqual({ 'a.jsonl/1': 'one', 'a.jsonl/2': 'old' });
  // A crash: another run begins while the line is still half there.
  await watching.stop();
  const again = await watch(root, {}, { ledger: watching.ledger });
  expect(again.first).toEqual({ 'a.jsonl/1': 'unchanged: one' });
  expect(again.ledger.texts()).toEqual({ 'a.jsonl/1': 'one', 'a.jsonl/2': 'old' });
  await appendFile(join(root, 'a.jsonl'), 'ew"}\n');
  expect(await again.look(2)).toEqual({ 'a.jsonl/1': 'unchanged: one', 'a.jsonl/2': 'stored: new' });
  expect(await again.look(4)).toEqual({});
  await again.stop();
});

test('a last line that is a whole object needs no newline while watching either', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.jsonl': '{"id":1,"text":"one"}' });
  const watching = await watch(root);
  expect(watching.first).toEqual({ 'a.jsonl/1': 'stored: one' });
  await writeFile(join(root, 'a.jsonl'), '{"id":1,"text":"one"}\n12');
  expect(await watching.look(2)).toEqual({ 'a.jsonl/1': 'unchanged: one' });
  await watching.stop();
});

test('an endless last line does not wait', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.jsonl': `{"id":1,"text":"one"}\n${'x'.repeat(5000)}` });
  const watching = await watch(root, { maxItemBytes: 1000 });
  expect(Object.values(watching.first).sort()).toEqual(['failed: [item_too_large]', 'stored: one']);
  await watching.stop();
});

test('a failure of a whole JSON Lines file goes when the file is mended', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.jsonl': Buffer.from('\uFEFF{}\n', 'utf16le') });
  const watching = await watch(root);
  expect(watching.first).toEqual({ 'a.jsonl': 'failed: [item_malformed]' });
  await writeFile(join(root, 'a.jsonl'), '{"id":1,"text":"one"}\n');
  expect(await watching.look(2)).toEqual({ 'a.jsonl': 'deleted: deleted', 'a.jsonl/1': 'stored: one' });
  await watching.stop();
});

test('a file that the store knows something newer of is read once more', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'truth', 'b.md': 'b' });
  const watching = await watch(root);
  await writeFile(join(root, 'a.md'), 'new truth');
  // Another process, whose clock is ahead, writes what it read before, just after this one was given its version.
  const { ledger } = watching;
  const apply = ledger.apply.bind(ledger);
  ledger.apply = (delivery) => {
    const held = ledger.rows.get('a.md')!;
    const ahead = held.version.replace(/^(........\.)../, '$101') as typeof held.version;
    ledger.rows.set('a.md', { ...held, version: ahead, text: 'truth' });
    ledger.apply = apply;
    return apply(delivery);
  };
  expect(await watching.look(2)).toEqual({ 'a.md': 'stale: new truth' });
  expect(await watching.look(2)).toEqual({ 'a.md': 'stored: new truth' });
  expect(await watching.look(4)).toEqual({});
  await watching.stop();
});

test('an id on two lines does not make its file be read without end', async () => {
  const root = await temporaryFolder();
  const filler = Array.from({ length: 300 }, (_, at) => `{"id":"f${at}","text":"f"}`);
  await writeFiles(root, { 'a.jsonl': ['{"id":1,"text":"x"}', ...filler, '{"id":1,"text":"x"}'].join('\n') });
  const watching = await watch(root);
  await watching.look(10);
  expect(await watching.look(10)).toEqual({});
  await watching.stop();
});

test('a file that was written just before it was read is read again', async () => {
  const look = { stamp: '', file: '', size: 0 };
  expect(isFresh({ ...look, changedAt: 5_000_123_456n }, 5015)).toBe(true);
  expect(isFresh({ ...look, changedAt: 5_000_123_456n }, 5025)).toBe(false);
  expect(isFresh({ ...look, changedAt: 5_000_000_000n }, 6500)).toBe(true);
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'a' });
  const watching = await watch(root, {}, { clock: new VirtualClock(0) });
  expect(await watching.look(2)).toEqual({ 'a.md': 'unchanged: a' });
  await watching.stop();
});
