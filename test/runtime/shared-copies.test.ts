import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ModelFolder } from '../../src/inference/models/model-folder.js';
import { resolveLocalModel } from '../../src/inference/models/local-model.js';
import { createSharedCopies, type SharedCopies } from '../../src/runtime/shared-copies.js';
import { temporaryFolder, writeFiles } from '../support/temporary-folder.js';

let copies: SharedCopies;
beforeEach(() => {
  copies = createSharedCopies();
});
afterEach(() => copies.close());

async function folder(): Promise<ModelFolder> {
  const path = await temporaryFolder();
  await writeFiles(path, { 'config.json': Buffer.from('{}'), 'model.bin': Buffer.from('weights') });
  return resolveLocalModel(path, (paths) => paths);
}

test('folders with equal files share a copy, which goes with its last use', async () => {
  const [a, b] = [await folder(), await folder()];
  const [one, two] = await Promise.all([copies.take(a), copies.take(b)]);
  expect(two.folder.path).toBe(one.folder.path);
  expect([one.folder.copyOf, two.folder.copyOf]).toEqual([a.path, b.path]);
  await one.release();
  await one.release();
  expect(await readFile(join(two.folder.path, 'model.bin'), 'utf8')).toBe('weights');
  await two.release();
  expect(existsSync(two.folder.path)).toBe(false);
  const again = await copies.take(b);
  expect(existsSync(again.folder.path)).toBe(true);
});

test('a folder that changed while it was copied spoils no other with the files that it had', async () => {
  const [changed, whole] = [await folder(), await folder()];
  await writeFile(join(changed.path, 'model.bin'), 'other weights');
  const failing = expect(copies.take(changed)).rejects.toMatchObject({ code: 'model_corrupt' });
  const { folder: copy } = await copies.take(whole);
  await failing;
  expect(await readFile(join(copy.path, 'model.bin'), 'utf8')).toBe('weights');
});
