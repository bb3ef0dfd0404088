import { execFileSync } from 'node:child_process';
import { appendFile, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentHash } from '../../../src/elements/hash.js';
import { LedgerDouble } from '../../support/ledger-double.js';
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.js';
import { atFirstObserve, openSource, openUnder, readOnce } from './bed.js';

test('a document is named by its path and says its format', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'guide/install.md': '# Hi\r\n', 'READ ME.TXT': 'text', 'guide/x.mdx': 'x' });
  const { elements } = await readOnce(root);
  expect(elements.map((element) => ({ ...element, version: undefined }))).toEqual([
    { kind: 'document', id: 'READ ME.TXT', text: 'text', metadata: { path: 'READ ME.TXT', format: 'text' } },
    {
      kind: 'document',
      id: 'guide/install.md',
      text: '# Hi\r\n',
      metadata: { path: 'guide/install.md', format: 'markdown' },
    },
    { kind: 'document', id: 'guide/x.mdx', text: 'x', metadata: { path: 'guide/x.mdx', format: 'markdown' } },
  ]);
});

test('front matter stays in the text', async () => {
  const root = await temporaryFolder();
  const text = '---\ntitle: Hello\n---\n# Body\n';
  await writeFiles(root, { 'a.md': text });
  expect((await readOnce(root)).found).toEqual({ 'a.md': text });
});

test('a file that was only touched says what it said', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'same', 'b.jsonl': '{"id":1,"text":"same"}\n' });
  const before = (await readOnce(root)).elements;
  await utimes(join(root, 'a.md'), new Date(0), new Date(0));
  await utimes(join(root, 'b.jsonl'), new Date(0), new Date(0));
  const after = (await readOnce(root)).elements;
  expect(before.length).toBe(2);
  const hashes = [before, after].map((elements) =>
    elements.map((element) => element.kind === 'document' && contentHash(element)),
  );
  expect(hashes[1]).toEqual(hashes[0]);
});

test('a pass that read everything says so, from a version that none of its documents is below', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'a', 'b/c.md': 'c' });
  const { completes, elements } = await readOnce(root);
  expect(completes.length).toBe(1);
  const { scope } = completes[0]!;
  expect(scope).toMatchObject({ prefix: '', except: [] });
  expect(elements.length).toBe(2);
  for (const { version } of elements) expect(version >= scope.since).toBe(true);
});

test('an empty file is a blank document', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': '', 'b.md': ' \n', 'c.md': '\uFEFF' });
  expect((await readOnce(root)).found).toEqual({ 'a.md': '', 'b.md': ' \n', 'c.md': '' });
});

test('a byte order mark of UTF-8 is no part of the text, and NUL becomes U+FFFD', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': '\uFEFFtext', 'b.md': `nul \0 in a text that is long enough to be one` });
  const { found } = await readOnce(root);
  expect(found).toEqual({ 'a.md': 'text', 'b.md': 'nul \uFFFD in a text that is long enough to be one' });
});

test('what is not UTF-8 fails alone and says why', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, {
    'a-latin1.md': Buffer.from('caf\xe9', 'latin1'),
    'b-utf16.md': Buffer.from('\uFEFFhello', 'utf16le'),
    'c-utf16-without-mark.md': Buffer.from('hello world', 'utf16le'),
    'd-cut.md': Buffer.from('水').subarray(0, 2),
    'e-good.md': 'good',
  });
  const { elements, found, completes } = await readOnce(root);
  expect(found).toEqual({
    'a-latin1.md': '[item_malformed]',
    'b-utf16.md': '[item_malformed]',
    'c-utf16-without-mark.md': '[item_malformed]',
    'd-cut.md': '[item_malformed]',
    'e-good.md': 'good',
  });
  const messages = elements.map((element) => (element.kind === 'unreadable' ? element.error.message : ''));
  expect(messages[0]).toBe('a-latin1.md is not valid UTF-8.');
  expect(messages[1]).toContain('UTF-16LE');
  expect(messages[2]).toContain('NUL');
  expect(completes.length).toBe(1);
});

test('a file over the limit is a failed element and is not read', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'x'.repeat(1001), 'b.md': 'x'.repeat(1000), 'c.md': 'small' });
  const { found } = await readOnce(root, {}, { maxItemBytes: 1000 });
  expect(found).toEqual({ 'a.md': '[item_too_large]', 'b.md': 'x'.repeat(1000), 'c.md': 'small' });
});

test('odd names are names like any other', async () => {
  const root = await temporaryFolder();
  const names = [
    'a b.md',
    'c\nd.md',
    '[x].md',
    'e%20f.md',
    'é.md',
    'e\u0301.md',
    '{g,h}.md',
    'i\'j".md',
    '水/😀.md',
  ];
  await writeFiles(root, Object.fromEntries(names.map((name) => [name, name])));
  expect((await readOnce(root)).found).toEqual(Object.fromEntries(names.map((name) => [name, name])));
});

test.runIf(process.platform === 'linux')('a name that is not UTF-8 is a failed element', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'good.md': 'good' });
  await writeFile(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9]), Buffer.from('.md')]), 'x');
  await mkdir(Buffer.concat([Buffer.from(`${root}/bad`), Buffer.from([0xff])]));
  const { found, completes, notices } = await readOnce(root);
  expect(found).toEqual({ 'caf\uFFFD.md': '[item_unreadable]', 'good.md': 'good' });
  expect(completes[0]?.scope.except).toEqual(['bad\uFFFD/']);
  expect(notices.map(({ code }) => code)).toEqual(['folder_unlisted']);
});

test('a pipe is not waited for, and is told', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'a' });
  execFileSync('mkfifo', [join(root, 'pipe.md')]);
  await mkdir(join(root, 'folder.md'));
  const { found, notices } = await readOnce(root);
  expect(found).toEqual({ 'a.md': 'a' });
  expect(notices.map(({ code, message }) => [code, message.split(' ')[0]])).toEqual([
    ['not_a_file', 'pipe.md'],
  ]);
});

test('a pipe that takes the place of a listed file is not waited for', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.jsonl': '{"id":1,"text":"x"}\n', 'b.jsonl': '{"id":1,"text":"x"}\n' });
  const swap = async (): Promise<void> => {
    await rm(join(root, 'b.jsonl'));
    execFileSync('mkfifo', [join(root, 'b.jsonl')]);
  };
  expect((await readOnce(root, {}, atFirstObserve('after', swap))).found).toEqual({ 'a.jsonl/1': 'x' });
});

test('symbolic links are left alone unless asked for, and a loop ends', async () => {
  const root = await temporaryFolder();
  const away = await temporaryFolder();
  await writeFiles(root, { 'in/a.md': 'a' });
  await writeFiles(away, { 'deep/b.md': 'b' });
  await symlink(away, join(root, 'away'));
  await symlink('..', join(root, 'in/loop'));
  await symlink('a.md', join(root, 'in/again.md'));
  const left = await readOnce(root);
  expect(left.found).toEqual({ 'in/a.md': 'a' });
  expect(left.notices.map(({ code }) => code)).toEqual(['links_not_followed']);
  const followed = await readOnce(root, { followSymlinks: true });
  expect(followed.found).toEqual({ 'away/deep/b.md': 'b', 'in/a.md': 'a', 'in/again.md': 'a' });
  expect(followed.notices.map(({ code }) => code)).toEqual(['link_loop']);
});

test('what a broken link led to does not count as vanished', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'a' });
  await symlink('/nowhere/at/all', join(root, 'drive'));
  const { found, completes, notices } = await readOnce(root, { followSymlinks: true });
  expect(found).toEqual({ 'a.md': 'a' });
  expect(completes[0]?.scope.except).toEqual(['drive']);
  expect(notices.map(({ code }) => code)).toEqual(['link_broken']);
});

test('globs choose what is read; folders with a dot are read when a glob names them', async () => {
  const root = await temporaryFolder();
  const all = [
    'a.md',
    'docs/b.MD',
    'docs/c.rst',
    '.git/d.md',
    '.github/e.md',
    'node_modules/p/README.md',
    'x/f.md',
  ];
  await writeFiles(root, Object.fromEntries(all.map((name) => [name, ''])));
  const read = async (options: Record<string, unknown>): Promise<string[]> =>
    Object.keys((await readOnce(root, options)).found).sort();
  expect(await read({})).toEqual(['a.md', 'docs/b.MD', 'x/f.md']);
  expect(await read({ exclude: [] })).toEqual(['a.md', 'docs/b.MD', 'node_modules/p/README.md', 'x/f.md']);
  expect(await read({ include: ['docs/**/*.{md,rst}', '.github/*.md'] })).toEqual([
    '.github/e.md',
    'docs/b.MD',
    'docs/c.rst',
  ]);
  expect(await read({ exclude: ['x', 'a.*'] })).toEqual(['docs/b.MD', 'node_modules/p/README.md']);
});

test('a root that cannot be listed ends the pass before it says that anything is gone', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'docs/a.md': 'a' });
  const { source } = await openSource(join(root, 'docs'));
  await rename(join(root, 'docs'), join(root, 'away'));
  const read = async (): Promise<void> => {
    const context = new LedgerDouble().context({ now: () => 0 });
    const versions = { observe: () => Promise.resolve([]), passStart: () => Promise.resolve('' as never) };
    for await (const delivery of source.deliveries({ ...context, ...versions }))
      throw new Error(delivery.kind);
  };
  await expect(read()).rejects.toMatchObject({ code: 'source_unavailable' });
  await expect(openSource(join(root, 'docs'))).rejects.toMatchObject({ code: 'source_unavailable' });
});

test('a file that vanishes between listing and reading is neither named nor failed', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'a', 'b.md': 'b', 'c.jsonl': '{"id":1,"text":"x"}\n' });
  const remove = atFirstObserve('before', () =>
    Promise.all(['b.md', 'c.jsonl'].map((name) => rm(join(root, name)))),
  );
  const { found, completes } = await readOnce(root, {}, remove);
  expect(found).toEqual({ 'a.md': 'a' });
  expect(completes.length).toBe(1);
});

test.each(['before', 'after'] as const)(
  'a file that changes just %s its version is given is handed over as it is then',
  async (when) => {
    const root = await temporaryFolder();
    await writeFiles(root, { 'a.md': 'old a', 'b.md': 'b' });
    const change = atFirstObserve(when, () => writeFile(join(root, 'a.md'), 'new content of a'));
    const { elements, found } = await readOnce(root, {}, change);
    expect(elements.length).toBe(2);
    expect(found).toEqual({ 'a.md': 'new content of a', 'b.md': 'b' });
  },
);

test('a file that never rests is taken as it is, and told', async () => {
  const root = await temporaryFolder();
  await writeFiles(root, { 'a.md': 'a', 'b.md': 'b' });
  let rounds = 0;
  const { found, notices } = await readOnce(root, {}, (given) => ({
    async observe(ids) {
      if (ids.includes('a.md')) {
        rounds += 1;
        await appendFile(join(root, 'a.md'), '+');
      }
      return given.observe(ids);
    },
  }));
  expect(found).toEqual({ 'a.md': 'a++', 'b.md': 'b' });
  expect(rounds).toBe(3);
  expect(notices.map(({ code }) => code)).toEqual(['file_changing']);
});

test('large files come in deliveries of their own', async () => {
  const root = await temporaryFolder();
  const large = 'x'.repeat(700_000);
  await writeFiles(root, Object.fromEntries(['a', 'b', 'c'].map((name) => [`${name}.md`, large])));
  const { source } = await openSource(root);
  const sizes: number[] = [];
  for await (const delivery of source.deliveries(new LedgerDouble().context({ now: () => Date.now() })))
    if (delivery.kind === 'elements') sizes.push(delivery.elements.length);
  expect(sizes).toEqual([1, 1, 1]);
  expect(await openUnder(root)).toBe(0);
});
