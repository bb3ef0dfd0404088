/**
 * `npm run test:pack`: the package as npm would publish it, installed in an empty folder with an empty HOME, indexes a
 * folder and answers, by its bin and by its name. Needs the npm registry.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from '../support/repository.js';

const call = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'millrace-pack-'));
const [home, app] = [join(folder, 'home'), join(folder, 'app')];
// A registry that the caller named stays the one that is asked.
const registry = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^npm_config_(registry|cafile|proxy|https_proxy)$/i.test(name),
  ),
);
const env = { PATH: process.env['PATH'], HOME: home, ...registry };

try {
  await mkdir(home);
  await mkdir(join(app, 'docs'), { recursive: true });
  const packed = await call('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: repositoryRoot,
    maxBuffer: 1 << 26,
  });
  const [{ filename, size, entryCount }] = JSON.parse(packed.stdout) as [
    { filename: string; size: number; entryCount: number },
  ];
  console.log(`${filename}: ${(size / 1e6).toFixed(1)} MB, ${entryCount} files`);
  await writeFile(join(app, 'package.json'), '{ "name": "app", "private": true, "type": "module" }');
  const cache = ['--cache', join(folder, 'cache')];
  await call('npm', ['install', ...cache, '--no-audit', '--no-fund', join(folder, filename)], {
    cwd: app,
    env,
  });
  console.log('ok   installed');

  await writeFile(join(app, 'docs/ants.md'), '# Ants\n\nAnts live in colonies.\n');
  await writeFile(join(app, 'docs/bees.md'), '# Bees\n\nBees make honey.\n');
  await writeFile(join(app, 'millrace.yaml'), 'name: app\nsource: { files: { root: docs } }\n');
  const bin = (...args: string[]) => call('npx', ['--no-install', 'millrace', ...args], { cwd: app, env });
  expect('run', (await bin('run', 'millrace.yaml')).stdout, '2 stored; 2 chunks embedded');
  expect('run again', (await bin('run', 'millrace.yaml')).stdout, '2 unchanged; 0 chunks embedded');
  expect('query', (await bin('query', 'millrace.yaml', 'Who makes honey?', '-k', '1')).stdout, 'bees.md');
  expect('doctor', (await bin('doctor')).stdout, 'bundled model: intact');
  await writeFile(
    join(app, 'ask.js'),
    `import { openRetriever } from 'millrace';
const retriever = await openRetriever('millrace.yaml');
console.log((await retriever.retrieve('Where do ants live?', { k: 1 }))[0].documentId);
await retriever.close();`,
  );
  expect('import', (await call(process.execPath, ['ask.js'], { cwd: app, env })).stdout, 'ants.md');
  const left = (await readdir(home)).filter((name) => name !== '.npm');
  expect('HOME stays empty', left.join(' '), '');
} finally {
  await rm(folder, { recursive: true, force: true });
}

function expect(what: string, text: string, part: string): void {
  const holds = part === '' ? text === '' : text.includes(part);
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}`);
  if (holds) return;
  console.log(text);
  process.exitCode = 1;
}
