import { expect, test } from 'vitest';
import { defaultRoom } from '../../src/runtime/default-room.js';

const megabyte = 1024 * 1024;

test('room grows with the workers', () => {
  expect(defaultRoom(1, [])).toEqual({ elements: 512, bytes: 4 * megabyte });
  expect(defaultRoom(16, [])).toEqual({ elements: 4_096, bytes: 32 * megabyte });
});

test('two rounds of batches of everything that takes batches fit in, up to 2,000 documents', () => {
  const lookups = { concurrency: 4, items: 100 };
  expect(defaultRoom(2, [lookups]).elements).toBe(800);
  expect(defaultRoom(2, [lookups, { concurrency: 8, items: 2_048 }]).elements).toBe(2_000);
});
