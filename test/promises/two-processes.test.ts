import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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
    await writeFiles(folder, { ...pages('north', 30), ...pages('south', 4_000) });
    const owner = startMillrace([
      'run',
      await config(folder, 'n.yaml', 'north', 'north'),
      '--watch',
      '--json',
    ]);
    await owner.prints('caught-up');
    const other = startMillrace(['run', await config(folder, 's.yaml', 'south', 'south'), '--json']);
    await other.prints('progress');
    owner.child.kill('SIGKILL');
    const { code, stderr } = await other.ended;
    expect(code, stderr).toBe(0);
    await owner.ended;
    const { ledger, unsound } = await readFolder(join(folder, 'store'), 'shared');
    expect(unsound).toEqual([]);
    expect(ledger.filter(({ state }) => state === 'stored')).toHaveLength(4_030);
  },
);
