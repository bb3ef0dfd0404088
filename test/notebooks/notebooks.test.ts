import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { prepareKernel } from '../../notebooks/kernel.js';
import { repositoryRoot } from '../support/repository.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const call = promisify(execFile);
const home = join(repositoryRoot, 'notebooks');
const names = readdirSync(home).filter((name) => name.endsWith('.ipynb'));

interface Notebook {
  readonly cells: readonly Cell[];
}
interface Cell {
  readonly cell_type: string;
  readonly source: readonly string[];
  readonly outputs?: readonly CellOutput[];
}
interface CellOutput {
  readonly name?: string;
  readonly text?: readonly string[];
  readonly data?: Readonly<Record<string, readonly string[]>>;
}

async function read(path: string): Promise<Notebook> {
  return JSON.parse(await readFile(path, 'utf8')) as Notebook;
}

/** Runs a notebook from top to bottom, as Jupyter does. @throws where a cell does not compile, or throws */
async function execute(name: string): Promise<readonly CellOutput[]> {
  const folder = await temporaryFolder();
  await call(
    'jupyter-nbconvert',
    ['--to', 'notebook', '--execute', '--output-dir', folder, '--output', name, join(home, name)],
    { env: { ...process.env, JUPYTER_PATH: await prepareKernel(repositoryRoot) } },
  );
  return (await read(join(folder, name))).cells.flatMap(({ outputs = [] }) => outputs);
}

test('there are notebooks', () => {
  expect(names).toEqual(['01-first-index.ipynb', '02-change-the-model.ipynb']);
});

test.each(names)('%s imports the public face alone, and is kept without what it printed', async (name) => {
  const { cells } = await read(join(home, name));
  const code = cells.filter(({ cell_type: type }) => type === 'code');
  const text = code.map(({ source }) => source.join('')).join('\n');
  const imported = [...text.matchAll(/from '([^']+)'|import\('([^']+)'\)/g)].map(([, by, at]) => by ?? at!);
  expect(imported.filter((from) => !/^(millrace|tslab|node:.*)$/.test(from))).toEqual([]);
  expect(imported).toContain('millrace');
  expect(code.flatMap(({ outputs = [] }) => outputs)).toEqual([]);
});

test('01-first-index goes from documents to answers, and draws them', { timeout: 180_000 }, async () => {
  const outputs = await execute('01-first-index.ipynb');
  expect(outputs.filter(({ name }) => name === 'stderr')).toEqual([]);
  const printed = outputs.flatMap(({ text = [] }) => text).join('');
  expect(printed).toContain('7 documents stored, 11 chunks, 11 embedded');
  expect(printed).toContain('tickets.jsonl/T-117 (dome, 2024)');
  expect(printed).toContain('the page as it was: true');
  expect(printed).toContain('1 stored, 5 unchanged, 1 deleted; 1 chunks embedded');
  expect(printed).toContain('the page on safety: undefined');

  const drawn = outputs.flatMap(({ data }) => data?.['image/svg+xml']?.join('') ?? []);
  expect(drawn.map((svg) => svg.match(/<text[^>]*>/g)!.length)).toEqual([6, 5, 2, 5, 35, 4]);
  for (const svg of drawn) expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  const best = (svg: string) => /<tspan[^>]*>([^<]*)</.exec(svg)![1];
  expect(drawn.slice(1, 4).map(best)).toEqual(Array.from({ length: 3 }, () => 'telescope.md'));
  expect(best(drawn.at(-1)!)).toBe('kitchen.md');
});

test(
  '02-change-the-model switches to a new generation while questions are answered',
  { timeout: 180_000 },
  async () => {
    const outputs = await execute('02-change-the-model.ipynb');
    expect(outputs.filter(({ name }) => name === 'stderr')).toEqual([]);
    const printed = outputs.flatMap(({ text = [] }) => text).join('');
    expect(printed).toContain('601 documents stored, 601 texts embedded');
    expect(printed).toContain('601 documents of the source were unchanged, 0 were stored anew');
    expect(printed).toMatch(
      /generation_compared: .* share \d+ % of the neighbours[^]*generation_switched: Generation 2 is active/,
    );
    // By the old model or by the new one, and nothing else.
    expect(printed).toMatch(/\d\d questions, 2 different scores, all found notes.jsonl\/visit\n/);
    expect(printed).toContain('The store was filled by another chain:');
    const [drawn] = outputs.flatMap(({ data }) => data?.['image/svg+xml']?.join('') ?? []);
    expect(drawn!.match(/<line [^>]*dasharray/g)).toHaveLength(2);
    const dots = (color: string) => drawn!.match(new RegExp(`r="4" fill="${color}"`, 'g'))!.length;
    // One of each colour stands in the legend.
    expect(dots('#4c78a8')).toBeGreaterThan(5);
    expect(dots('#f58518')).toBeGreaterThanOrEqual(11);
    expect(drawn).not.toMatch(/NaN|undefined|Infinity/);
  },
);
