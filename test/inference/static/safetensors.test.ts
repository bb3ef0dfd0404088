import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readSafetensors } from '../../../src/inference/handlers/static/safetensors.js';
import { safetensorsBytes } from './safetensors-file.js';

const folder = mkdtempSync(join(tmpdir(), 'millrace-safetensors-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'model.safetensors');

const tensors = {
  a: { dtype: 'I8', shape: [1, 3], data: Int8Array.of(1, -2, 3) },
  b: { dtype: 'F32', shape: [2], data: Float32Array.of(0.5, -0.25) },
};
const whole = safetensorsBytes(tensors);

it('reads tensors, also where a float lies at an odd place', async () => {
  writeFileSync(file, whole);
  const read = await readSafetensors(file, ['a', 'b', 'c']);
  expect([...read.keys()]).toEqual(['a', 'b']);
  expect([...new Int8Array(read.get('a')!.data)]).toEqual([1, -2, 3]);
  expect([...new Float32Array(read.get('b')!.data)]).toEqual([0.5, -0.25]);
});

it('names a file that is not there', async () => {
  await expect(readSafetensors(join(folder, 'absent'), ['a'])).rejects.toMatchObject({
    code: 'model_not_found',
    message: expect.stringContaining('absent') as unknown,
  });
});

const spoilt: [string, Buffer][] = [
  ['empty', Buffer.alloc(0)],
  ['cut within the length of the header', whole.subarray(0, 5)],
  ['cut within the header', whole.subarray(0, 40)],
  ['cut by one byte', whole.subarray(0, -1)],
  ['longer by one byte', Buffer.concat([whole, Buffer.of(0)])],
  ['a web page', Buffer.from('<!doctype html><html><body>Not found, sorry</body></html>')],
  ['without JSON in its header', Buffer.concat([Buffer.of(4, 0, 0, 0, 0, 0, 0, 0), Buffer.from('nope')])],
  ['with another shape', safetensorsBytes(tensors, (header) => (header['a']!['shape'] = [2, 3]))],
  ['with a negative offset', safetensorsBytes(tensors, (header) => (header['a']!['data_offsets'] = [-3, 0]))],
  [
    'with tensors that overlap',
    safetensorsBytes(tensors, (header) => (header['b']!['data_offsets'] = [0, 8])),
  ],
  ['without a shape', safetensorsBytes(tensors, (header) => delete header['b']!['shape'])],
];

it.each(spoilt)('refuses a file that is %s, by its name', async (_, bytes) => {
  writeFileSync(file, bytes);
  await expect(readSafetensors(file, ['a', 'b'])).rejects.toMatchObject({
    code: 'model_corrupt',
    message: expect.stringContaining(file) as unknown,
  });
});
