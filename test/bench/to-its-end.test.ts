import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';

const module = JSON.stringify(new URL('../../bench/to-its-end.js', import.meta.url).href);

/** A process whose whole work is an expression. */
function start(work: string) {
  const script = `import { toItsEnd } from ${module}; await toItsEnd(${work});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, said: text(child.stderr), ended: once(child, 'close') as Promise<[number | null]> };
}

test('a process whose work waits for nothing that could still come says so', async () => {
  const { said, ended } = start('new Promise(() => {})');
  expect((await ended)[0]).toBe(13);
  expect(await said).toMatch(/ended before its work was done: nothing was left to wait for/);
});

test('a process that is ended by a signal says by which', async () => {
  const { child, said, ended } = start(
    "new Promise(() => { setInterval(() => process.stdout.write('up'), 20) })",
  );
  // Ended by itself it is not up either: then it is seen below.
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill('SIGTERM');
  expect((await ended)[0]).toBe(143);
  expect(await said).toMatch(/ended before its work was done: SIGTERM/);
});

test('work that ends or fails is left to itself', async () => {
  const done = start("Promise.resolve('result')");
  expect([(await done.ended)[0], await done.said]).toEqual([0, '']);
  const failed = start("Promise.reject(new Error('a fault'))");
  expect((await failed.ended)[0]).toBe(1);
  expect(await failed.said).toMatch(/Error: a fault/);
  expect(await failed.said).not.toMatch(/ended before/);
});
