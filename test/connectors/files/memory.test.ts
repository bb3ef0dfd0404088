import { execFileSync } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';

const script = fileURLToPath(new URL('./count-pass.js', import.meta.url));

/** Reads so many lines in a process of its own. @returns elements and peak memory in bytes */
async function readLines(count: number): Promise<{ elements: number; peak: number }> {
  const root = await temporaryFolder();
  await using file = await open(join(root, 'a.jsonl'), 'w');
  for (let at = 0; at < count; at += 10_000) {
    const lines = Array.from({ length: Math.min(10_000, count - at) }, (_, next) => {
      return `${JSON.stringify({ id: at + next, text: `Sentence ${at + next} about stores. `.repeat(4) })}\n`;
    });
    await file.write(lines.join(''));
  }
  const printed = execFileSync(process.execPath, [script, root], { encoding: 'utf8' });
  return JSON.parse(printed) as { elements: number; peak: number };
}

test('memory does not grow with the lines of a file', async () => {
  const few = await readLines(40_000);
  const many = await readLines(400_000);
  expect([few.elements, many.elements]).toEqual([40_000, 400_000]);
  expect(many.peak / few.peak).toBeLessThan(1.3);
}, 60_000);
