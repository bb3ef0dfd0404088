import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { millrace, type Ended } from '../support/millrace-process.js';
import { writeFiles } from '../support/temporary-folder.js';

let folder: string;
const on = (...args: string[]) => millrace([...args, '--json'], { cwd: folder });
const values = ({ stdout }: Ended) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const config = (prompts: string) =>
  `name: cli\nsource: { files: { root: docs } }\nsink: { pglite: { path: store } }\nworkers: 1
chain: [{ chunk: { markdown: {} } }, { embed: { static: { model: bundled${prompts} } } }]\n`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-generations-'));
  await writeFiles(folder, { 'docs/ants.md': 'Ants live in colonies.', 'docs/bees.md': 'Bees make honey.' });
  await writeFile(join(folder, 'old.yaml'), config(''));
  await writeFile(join(folder, 'new.yaml'), config(', prompts: { document: "passage: " }'));
});
afterAll(() => rm(folder, { recursive: true }));

test(
  'generations are started, switched, switched back and dropped from the command line',
  { timeout: 120_000 },
  async () => {
    expect((await on('run', 'old.yaml')).code).toBe(0);
    expect(values(await on('generations', 'start', 'new.yaml')).at(-1)).toEqual({
      number: 2,
      documents: 2,
      embedded: 2,
      refused: [],
    });
    expect(values(await on('generations', 'list', 'new.yaml'))).toMatchObject([
      { number: 1, state: 'active' },
      { number: 2, state: 'filling', behind: 0, count: { documents: 2, chunks: 2 } },
    ]);
    const refused = await on('generations', 'drop', 'new.yaml', '1');
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('generation_moved')]);
    expect(values(await on('generations', 'switch', 'new.yaml')).at(-1)).toMatchObject({
      active: 2,
      before: 1,
    });
    expect(values(await on('query', 'new.yaml', 'honey', '-k', '1'))).toMatchObject([
      { documentId: 'bees.md' },
    ]);
    expect(values(await on('generations', 'rollback', 'new.yaml')).at(-1)).toMatchObject({
      active: 1,
      before: 2,
    });
    expect((await on('run', 'new.yaml')).stdout).toContain('millrace generations switch');
    expect(values(await on('generations', 'drop', 'old.yaml', '2'))).toEqual([{ dropped: 2 }]);
    expect((await on('generations', 'drop', 'old.yaml', '7')).code).toBe(2);
    expect((await on('run', 'old.yaml')).code).toBe(0);
  },
);
