import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readFolder } from '../support/folder-content.js';
import { millrace, startMillrace } from '../support/millrace-process.js';
import { temporaryFolder, writeFiles } from '../support/temporary-folder.js';

/** A configuration over `docs/<root>` into the one store of the folder. */
async function config(folder: string, file: string, root: string, source: string): Promise<string> {
  const path = join(folder, file);
  await writeFile(
    path,
    `name: shared
source: { files: { root: ${root}, name: ${source} } }
sink: { pglite: { path: store } }
failed: { files: { path: failed } }
workers: 1
limits: { elements: 10 }
`,
  );
  return path;
}

/** The same, but after a hundred documents the run waits for a file `go`, with some of them on their way into the store. */
async function gated(folder: string, root: string): Promise<void> {
  await writeFile(
    join(folder, `${root}.mjs`),
    `import { existsSync } from 'node:fs';
    let documents = 0;
    export default {
      name: 'shared',
      source: { files: { root: '${root}', name: '${root}' } },
      chain: [
        { enrich: { name: 'gate', batchSize: 1, batch: async () => {
          documents += 1;
          if (documents === 100) console.error('a hundred');
          while (documents > 100 && !existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 10));
          return [{}];
        } } },
        { chunk: { markdown: {} } },
        { embed: { static: { model: 'bundled' } } },
      ],
      sink: { pglite: { path: 'store' } },
      failed: { files: { path: 'failed' } },
      workers: 1,
      limits: { elements: 10 },
    };`,
  );
}

const pages = (folder: string, count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [
      `${folder}/${folder}-${n}.md`,
      `# Page ${n}\n\nOf ${folder}.\n`,
    ]),
  );

test('two runs with sources of their own fill one folder at once', { timeout: 60_000 }, async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, { ...pages('north', 150), ...pages('south', 150) });
  const both = [
    await config(folder, 'n.yaml', 'north', 'north'),
    await config(folder, 's.yaml', 'south', 'south'),
  ];
  const ends = await Promise.all(both.map((path) => millrace(['run', path])));
  for (const { code, stderr } of ends) expect(code, stderr).toBe(0);
  const { ledger, chunks, unsound } = await readFolder(join(folder, 'store'), 'shared');
  expect(unsound).toEqual([]);
  expect(ledger.filter(({ state }) => state === 'stored')).toHaveLength(300);
  expect(new Set(chunks.map(({ documentId }) => documentId)).size).toBe(300);
});

test(
  'two runs of the same source at once agree, and a third finds nothing to do',
  { timeout: 60_000 },
  async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, pages('docs', 200));
    const path = await config(folder, 'm.yaml', 'docs', 'files');
    const ends = await Promise.all([millrace(['run', path]), millrace(['run', path])]);
    for (const { code, stderr } of ends) expect(code, stderr).toBe(0);
    const { ledger, unsound } = await readFolder(join(folder, 'store'), 'shared');
    expect(unsound).toEqual([]);
    expect(ledger.filter(({ state }) => state === 'stored')).toHaveLength(200);
    const third = await millrace(['run', path]);
    expect(third.stdout).toContain('200 unchanged; 0 chunks embedded');
  },
);

test(
  'a run goes on by itself when the process that owned the folder is killed',
  { timeout: 60_000 },
  async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, { ...pages('north', 30), ...pages('south', 400) });
    await gated(folder, 'north');
    await gated(folder, 'south');
    const owner = startMillrace(['run', 'north.mjs', '--watch', '--json'], { cwd: folder });
    onTestFinished(() => void owner.child.kill('SIGKILL'));
    await owner.prints('caught-up');
    const other = startMillrace(['run', 'south.mjs'], { cwd: folder });
    onTestFinished(() => void other.child.kill('SIGKILL'));
    await other.says('a hundred');
    owner.child.kill('SIGKILL');
    await owner.ended;
    await writeFile(join(folder, 'go'), '');
    const { code, stderr } = await other.ended;
    expect(code, stderr).toBe(0);
    const { ledger, unsound } = await readFolder(join(folder, 'store'), 'shared');
    expect(unsound).toEqual([]);
    expect(ledger.filter(({ state }) => state === 'stored')).toHaveLength(430);
  },
);
