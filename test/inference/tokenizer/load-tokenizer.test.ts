import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadTokenizer, tokenizerRef } from '../../../src/inference/tokenizer/load-tokenizer.js';
import { createResourceTable } from '../../../src/inference/workers/resources.js';
import { bertFile } from './tokenizer-files.js';

const folder = mkdtempSync(join(tmpdir(), 'millrace-tokenizer-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'tokenizer.json');
const write = (content: unknown) => writeFileSync(file, JSON.stringify(content));

it('loads a tokenizer once for all that share their resources', async () => {
  write(bertFile(['some words']));
  const table = createResourceTable();
  const ref = await tokenizerRef(file);
  const [one, two] = [table.lease(), table.lease()];
  const [first, second] = await Promise.all([loadTokenizer(ref, one), loadTokenizer(ref, two)]);
  expect(second).toBe(first);
  one.release();
  expect(await loadTokenizer(ref, two)).toBe(first);
  two.release();
  expect(await loadTokenizer(ref, table.lease())).not.toBe(first);
});

it('refuses a file that is missing, altered or no tokenizer', async () => {
  const resources = createResourceTable().lease();
  await expect(tokenizerRef(join(folder, 'absent'))).rejects.toMatchObject({ code: 'model_not_found' });
  write(bertFile(['some words']));
  const ref = await tokenizerRef(file);
  write(bertFile(['other words']));
  await expect(loadTokenizer(ref, resources)).rejects.toMatchObject({ code: 'model_corrupt' });
  for (const content of ['{', '[]', '{"model":{}}', '{"model":{"vocab":{"a":"b"}}}']) {
    writeFileSync(file, content);
    await expect(loadTokenizer(await tokenizerRef(file), resources)).rejects.toMatchObject({
      code: 'model_corrupt',
      message: expect.stringContaining(file) as unknown,
    });
  }
  write({ ...bertFile(['some words']), pre_tokenizer: { type: 'Unheard' } });
  await expect(loadTokenizer(await tokenizerRef(file), resources)).rejects.toMatchObject({
    code: 'model_unsupported',
  });
});
