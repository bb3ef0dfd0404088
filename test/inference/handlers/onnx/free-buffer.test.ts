import { expect, test } from 'vitest';
import { bufferFreer } from '../../../../src/inference/handlers/onnx/free-buffer.js';

test('a freed buffer is empty and its memory is given back without a garbage collection', () => {
  const free = bufferFreer();
  const before = process.memoryUsage().arrayBuffers;
  for (let time = 0; time < 64; time += 1) {
    const numbers = new Float32Array(4 * 1024 * 1024).fill(1);
    free(numbers.buffer);
    expect(numbers.length).toBe(0);
  }
  // 1 GB in all.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64e6);
});

test('one that cannot be moved is left alone', () => {
  // Node's pool of small buffers is marked as not to be moved.
  const { buffer } = Buffer.from('pooled');
  bufferFreer()(buffer);
  expect(buffer.byteLength).toBe(Buffer.poolSize);
});
