import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSession } from '../../../../src/inference/handlers/onnx/session.js';
import { temporaryFolder, writeFiles } from '../../../support/temporary-folder.js';
import { tinyModelFiles } from '../../../support/tiny-model.js';

/** Threads of this process that the system runs. */
const threads = async () => (await readdir('/proc/self/task')).length;

test.each([1, 2, 5])('a session of %i threads starts that many less the one that calls it', async (count) => {
  const folder = await temporaryFolder();
  await writeFiles(folder, tinyModelFiles());
  const path = join(folder, 'onnx/model.onnx');
  const open = (threads: number) =>
    openSession({ path, shown: path }, { threads, device: 'cpu', deviceIndex: 0 });
  // What the runtime starts once, it starts with the first session.
  const first = await open(1);
  const before = await threads();
  const session = await open(count);
  expect((await threads()) - before).toBe(count - 1);
  await session.close();
  expect((await threads()) - before).toBe(0);
  await first.close();
});
