import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { definePipeline, type PipelineInput } from '../src/index.js';
import { repositoryRoot } from './support/repository.js';
import { temporaryFolder, writeFiles } from './support/temporary-folder.js';

const run = promisify(execFile);
const index = pathToFileURL(join(repositoryRoot, 'dist/src/index.js')).href;

/** Runs a script in a process of its own; every module that is resolved there is listed in `resolved`. */
async function script(text: string): Promise<{ stdout: string; resolved: string[] }> {
  const folder = await temporaryFolder();
  const list = join(folder, 'resolved');
  await writeFiles(folder, {
    'script.mjs': text,
    'hooks.mjs': `import { appendFileSync } from 'node:fs';
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  appendFileSync(${JSON.stringify(list)}, found.url + '\\n');
  return found;
}`,
    'register.mjs': `import { register } from 'node:module';
register(${JSON.stringify(pathToFileURL(join(folder, 'hooks.mjs')).href)});`,
  });
  await writeFile(list, '');
  const { stdout } = await run(
    process.execPath,
    ['--import', pathToFileURL(join(folder, 'register.mjs')).href, join(folder, 'script.mjs')],
    { cwd: folder },
  );
  return { stdout, resolved: (await readFile(list, 'utf8')).split('\n').filter((line) => line !== '') };
}

test('importing the package loads no driver and no model runtime', async () => {
  const { stdout, resolved } = await script(
    `const face = await import(${JSON.stringify(index)}); console.log(Object.keys(face).sort().join(' '));`,
  );
  expect(stdout.trim()).toBe('MillraceError chunk compareModels definePipeline openRetriever run');
  // The list is whole: it has our own files and the two libraries that read a configuration.
  expect(resolved).toContain(index);
  const packages = new Set(
    resolved.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []),
  );
  expect([...packages].sort()).toEqual(['yaml', 'zod']);
  expect(
    resolved.filter((url) => /connectors\/(postgres|files)\/(?!connector|(cdc\/)?config)/.test(url)),
  ).toEqual([]);
});

test('a configuration in TypeScript is checked key by key where it is written, those of connectors too', () => {
  const inputs: readonly PipelineInput[] = [
    // @ts-expect-error `roots` is no setting of files.
    { name: 'a', source: { files: { roots: './docs' } } },
    // @ts-expect-error No store is called `chroma`.
    { name: 'a', source: { files: { root: './docs' } }, sink: { chroma: {} } },
    // @ts-expect-error `path` is a text.
    { name: 'a', source: { files: { root: './docs' } }, failed: { files: { path: 1 } } },
    // @ts-expect-error An address is a text.
    { name: 'a', source: { files: { root: './docs' } }, refresh: { events: { redis: { url: 1 } } } },
  ];
  for (const input of inputs)
    expect(() => definePipeline(input)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  const whole: PipelineInput = {
    name: 'a',
    source: { postgres: { url: 'postgres://a', table: 'b', text: ['c', 'd'] } },
    sink: { postgres: { url: 'postgres://a', columns: { lang: 'text' }, keepText: true } },
    failed: { redis: { url: 'redis://a', stream: 'b' }, retention: '30d' },
    refresh: { events: { redis: { url: 'redis://a' } } },
  };
  expect(definePipeline(whole)).toBe(whole);
});

test('a script defines a pipeline, runs it, and asks its store', { timeout: 60_000 }, async () => {
  const { stdout } = await script(`
import { mkdir, writeFile } from 'node:fs/promises';
import { chunk, definePipeline, openRetriever, run } from ${JSON.stringify(index)};
await mkdir('docs');
await writeFile('docs/ants.md', '# Ants\\n\\nAnts live in colonies.');
await writeFile('docs/bees.md', '# Bees\\n\\nBees make honey.');
const pipeline = definePipeline({
  name: 'script',
  source: { files: { root: 'docs' } },
  chain: [
    { enrich: { name: 'team', batch: async (documents) => documents.map(() => ({ metadata: { team: 'zoo' } })) } },
    { chunk: { markdown: { maxTokens: 200 } } },
    { embed: { static: { model: 'bundled' } } },
  ],
});
const events = [];
const summary = await run(pipeline, { onEvent: ({ type }) => events.push(type) });
const retriever = await openRetriever(pipeline);
const hits = await retriever.retrieve('Who makes honey?', { k: 1, filter: { team: 'zoo' } });
await retriever.close();
console.log(JSON.stringify({ stored: summary.outcomes.stored, events: events.includes('finished'), hits }));
`);
  expect(JSON.parse(stdout)).toMatchObject({
    stored: 2,
    events: true,
    hits: [{ documentId: 'bees.md', metadata: { team: 'zoo', headings: ['Bees'] } }],
  });
});

test('a pipeline that is wrong is refused where it is defined', async () => {
  const { stdout } = await script(`
import { definePipeline, MillraceError } from ${JSON.stringify(index)};
try { definePipeline({ name: 'x', source: { files: {} } }); }
catch (error) { console.log(error instanceof MillraceError, error.code, error.message); }
`);
  expect(stdout).toContain('true config_invalid');
  expect(stdout).toContain('source.files.root: missing; expected string');
});
