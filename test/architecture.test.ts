import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { repositoryRoot } from './support/repository.js';

/** Low to high: a file imports its own folder or a lower one. */
const order = [
  ['errors'],
  ['elements'],
  ['contracts'],
  ['observability'],
  ['flow'],
  ['inference'],
  ['transforms'],
  ['pipeline'],
  ['config', 'retrieval'],
  ['runtime', 'hosts', 'langchain'],
  ['index'],
  ['cli'],
];
const rank = new Map(order.flatMap((rooms, at) => rooms.map((room) => [room, at] as const)));
const connectorsMaySee = new Set(['errors', 'elements', 'contracts']);
const mayBeNamedByConnectors =
  /^(node:|zod$|pg$|pgvector|pg-copy-streams|postgres-array$|ioredis$|@electric-sql\/|picomatch$|@qdrant\/js-client-rest$)/;

interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

const files = ['src', 'connectors'].flatMap((folder) => list(join(repositoryRoot, folder)));
const imports = files.flatMap((file) => importsOf(file));

describe('architecture', () => {
  test('the tree is read: there are files and imports to judge', () => {
    expect(files.length).toBeGreaterThan(60);
    expect(imports.length).toBeGreaterThan(200);
  });

  test('every folder of src has its place in the order', () => {
    const rooms = new Set(files.filter((file) => file.startsWith('src/')).map(room));
    expect([...rooms].filter((name) => !rank.has(name))).toEqual([]);
  });

  test('a file of src imports its own folder or a lower one', () => {
    const wrong = imports.filter(({ from, to }) => {
      if (!from.startsWith('src/') || !to.startsWith('src/')) return false;
      const [own, other] = [room(from), room(to)];
      return own !== other && rank.get(other)! >= rank.get(own)!;
    });
    expect(wrong).toEqual([]);
  });

  test('connectors see errors, elements, contracts, zod and their drivers; not the engine, not each other', () => {
    const wrong = imports.filter(({ from, to }) => {
      if (!from.startsWith('connectors/') || from === 'connectors/registry.ts') return false;
      if (to.startsWith('src/')) return !connectorsMaySee.has(room(to));
      if (to.startsWith('connectors/')) return to.split('/')[1] !== from.split('/')[1];
      return !mayBeNamedByConnectors.test(to);
    });
    expect(wrong).toEqual([]);
  });

  test('only the two composition roots see the connector registry', () => {
    const seen = imports.filter(({ to }) => to === 'connectors/registry.ts').map(({ from }) => from);
    expect(seen.sort()).toEqual(['src/cli/main.ts', 'src/index.ts']);
  });

  test('nothing but the registry reaches from src into connectors', () => {
    const wrong = imports.filter(
      ({ from, to }) =>
        from.startsWith('src/') && to.startsWith('connectors/') && to !== 'connectors/registry.ts',
    );
    expect(wrong).toEqual([]);
  });

  test('only cli touches signals, exit, the console and the environment', () => {
    const touches = /\bprocess\.(on|once|exit|exitCode|env|argv|stdout|stderr)\b|\bconsole\./;
    const allowed = new Set([
      // The whole program of a worker process: its requests come as messages of the process.
      'src/inference/workers/process-main.ts',
      // Native code hears of nothing but the environment of the process.
      'src/inference/workers/quiet-runtimes.ts',
    ]);
    const wrong = files.filter(
      (file) =>
        file.startsWith('src/') &&
        !file.startsWith('src/cli/') &&
        !allowed.has(file) &&
        touches.test(code(file)),
    );
    expect(wrong).toEqual([]);
  });

  test('time and chance come through the context', () => {
    const touches = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(/;
    // The last compares with the times that the file system gives its files.
    const allowed = new Set([
      'src/flow/system-clock.ts',
      'src/flow/chance.ts',
      'connectors/postgres/durable-files.ts',
    ]);
    const wrong = files.filter(
      (file) => !file.startsWith('src/cli/') && !allowed.has(file) && touches.test(code(file)),
    );
    expect(wrong).toEqual([]);
  });

  test('contracts are types only', () => {
    const wrong = files.filter(
      (file) => file.startsWith('src/contracts/') && /^export (const|function|class|let)/m.test(code(file)),
    );
    expect(wrong).toEqual([]);
  });
});

function list(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => relative(repositoryRoot, join(folder, file)));
}

function code(file: string): string {
  return readFileSync(join(repositoryRoot, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, '');
}

function importsOf(from: string): Import[] {
  const found = code(from).matchAll(
    /(?:^|\n)\s*(?:import|export)\s(type\s)?[^;]*?from\s+'([^']+)'|import\('([^']+)'\)/g,
  );
  return [...found].map(([, type, named, dynamic]) => {
    const target = (named ?? dynamic)!;
    const to = target.startsWith('.') ? join(dirname(from), target).replace(/\.js$/, '.ts') : target;
    return { from, to, typeOnly: type !== undefined };
  });
}

function room(file: string): string {
  return file === 'src/index.ts' ? 'index' : file.split('/')[1]!;
}
