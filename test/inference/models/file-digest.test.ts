import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashFile } from '../../../src/inference/models/file-digest.js';
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.js';

test('a file is hashed whole; a stop in between is told as the stop that it is', async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, { weights: 'abc' });
  const file = join(folder, 'weights');
  expect(await hashFile(file)).toEqual({
    bytes: 3,
    sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    matches: true,
  });
  const reason = new Error('The run is stopping.');
  await expect(hashFile(file, undefined, AbortSignal.abort(reason))).rejects.toBe(reason);
});
