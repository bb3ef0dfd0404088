import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startMillrace } from '../support/millrace-process.js';
import { temporaryFolder, writeFiles } from '../support/temporary-folder.js';
import { tinyClassifierFiles } from '../support/tiny-classifier.js';

const yaml = `name: topics
source: { files: { root: ./docs } }
chain:
  - infer: { name: topic, to: metadata.topic, model: { onnx: { model: ./model } } }
  - chunk: { recursive: {} }
  - embed: { static: { model: bundled } }
refresh: { watch: ./model }
`;

test('what a killed run left among the temporary files goes with the next one; one that lives keeps its own', async () => {
  const root = await temporaryFolder();
  const tmp = join(root, 'tmp');
  await mkdir(tmp);
  for (const name of ['one', 'two', 'three']) {
    await writeFiles(join(root, name, 'model'), tinyClassifierFiles());
    await writeFiles(join(root, name), { 'docs/a.md': 'ants bees', 'millrace.yaml': yaml });
  }
  // Some libraries leave less where they see a CI.
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: tmp };
  const start = (name: string, ...flags: string[]) =>
    startMillrace(['run', 'millrace.yaml', '--log', 'text', ...flags], {
      cwd: join(root, name),
      env,
      limitMs: 30_000,
    });
  const [killed, living] = [start('one', '--watch'), start('two', '--watch')];
  await Promise.all([killed, living].map((run) => run.says('watching')));
  const both = readdirSync(tmp);
  expect(both).toHaveLength(2);
  killed.child.kill('SIGKILL');
  await killed.ended;
  expect(await start('three', '--until-idle').ended).toMatchObject({ code: 0 });
  const left = readdirSync(tmp);
  expect(both).toEqual(expect.arrayContaining(left));
  expect(left).toHaveLength(1);
  living.child.kill('SIGTERM');
  expect(await living.ended).toMatchObject({ code: 0 });
  expect(readdirSync(tmp)).toEqual([]);
});

test('where there is no folder for temporary files a run is refused, and told how to name one', async () => {
  const root = await temporaryFolder();
  await writeFiles(join(root, 'model'), tinyClassifierFiles());
  await writeFiles(root, { 'docs/a.md': 'ants bees', 'millrace.yaml': yaml });
  const { code, stderr } = await startMillrace(['run', 'millrace.yaml', '--until-idle', '--log', 'text'], {
    cwd: root,
    env: { ...process.env, TMPDIR: join(root, 'none') },
    limitMs: 30_000,
  }).ended;
  expect(code).toBe(2);
  expect(stderr).toContain(`No folder can be made in ${join(root, 'none')} (ENOENT)`);
  expect(stderr).toContain('TMPDIR');
});
