import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readJsonFile } from '../../../src/inference/models/read-json-file.js';
import { resolveLocalModel } from '../../../src/inference/models/local-model.js';
import { stageFolder } from '../../../src/inference/refresh/stage-folder.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { writeFiles } from '../../support/write-files.js';

test('a damaged file of a copied model is told by the folder that people know', async () => {
  const root = await temporaryFolder();
  await writeFiles(join(root, 'topics'), { 'config.json': Buffer.from('{') });
  const folder = await resolveLocalModel(join(root, 'topics'), () => ['config.json']);
  const copy = await stageFolder(folder, join(root, 'copy'));
  const again = await stageFolder(copy, join(root, 'again'));
  for (const from of [folder, copy, again])
    await expect(readJsonFile(from, 'config.json', z.object({}))).rejects.toMatchObject({
      code: 'model_corrupt',
      message: expect.stringContaining(join(root, 'topics', 'config.json')),
    });
});
