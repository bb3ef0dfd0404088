import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder, writeFiles } from '../support/temporary-folder.js';

test('check says that ONNX Runtime is not installed before the model is fetched', async () => {
  // The built package in a folder of its own, with everything it needs but the runtime.
  const app = await temporaryFolder();
  for (const part of ['dist/src', 'dist/connectors', 'package.json'])
    await cp(part, join(app, part), { recursive: true });
  await mkdir(join(app, 'node_modules'));
  for (const name of await readdir('node_modules'))
    if (!name.startsWith('.') && name !== 'onnxruntime-node')
      await symlink(join(process.cwd(), 'node_modules', name), join(app, 'node_modules', name));
  await writeFiles(app, {
    'docs/a.md': 'Ants.',
    'millrace.yaml': `name: cold
source: { files: { root: docs } }
chain: [{ chunk: { markdown: {} } }, { embed: { onnx: { model: owner/not-here } } }]
models: { cacheFolder: cache }
`,
  });
  const check = ['dist/src/cli/main.js', 'check', 'millrace.yaml', '--json'];
  const failed = (await promisify(execFile)(process.execPath, check, { cwd: app }).catch(
    (error: unknown) => error,
  )) as { code: number; stdout: string };
  expect(failed.code).toBe(1);
  const found = failed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { part: string; error?: unknown });
  expect(found.find(({ part }) => part === 'model')).toMatchObject({
    error: {
      code: 'runtime_missing',
      hint: expect.stringContaining('npm install onnxruntime-node@') as string,
    },
  });
});
