import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineCutter, readLines, type Line } from '../../../connectors/files/read-lines.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** The lines of a text by the plain rule, for comparison. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.pop()!;
  return [...lines.map((line) => line.replace(/\r$/, '')), ...(last === '' ? [] : [last])];
}

const texts = fc
  .array(fc.constantFrom('a', 'ü', '水', '😀', '\r', '\n', '\r\n', '{"x":1}'))
  .map((parts) => parts.join(''));

test('lines are the same however the bytes come in pieces', () => {
  fc.assert(
    fc.property(texts, fc.array(fc.nat({ max: 60 }), { maxLength: 8 }), (text, cuts) => {
      const bytes = Buffer.from(text);
      const places = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
      const cutter = lineCutter(1000);
      const lines: Line[] = places.slice(1).flatMap((end, at) => cutter.add(bytes.subarray(places[at], end)));
      const last = cutter.end();
      if (last !== undefined) lines.push(last);
      expect(lines.map((line) => line.bytes!.toString())).toEqual(linesOf(text));
      for (const [at, { number, start, end, bytes: held }] of lines.entries()) {
        expect(number).toBe(at + 1);
        expect(start).toBe(at === 0 ? 0 : lines[at - 1]!.end);
        expect(bytes.subarray(start, start + held!.length).equals(held!)).toBe(true);
        expect(end).toBeLessThanOrEqual(bytes.length);
      }
    }),
    { numRuns: 500 },
  );
});

test('a line over the limit is told by its digest, whatever the pieces', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20 }), (length, piece) => {
      const bytes = Buffer.from(`${'x'.repeat(length)}\r\nshort\n`);
      const cutter = lineCutter(10);
      const lines: Line[] = [];
      for (let at = 0; at < bytes.length; at += piece)
        lines.push(...cutter.add(bytes.subarray(at, at + piece)));
      expect(lines.length).toBe(2);
      expect(lines[0]!.bytes?.length).toBe(length <= 10 ? length : undefined);
      expect(lines[0]!.digest === undefined).toBe(length <= 10);
      expect(lines[1]!.bytes?.toString()).toBe('short');
    }),
  );
});

test('reading may begin at any line', async () => {
  const file = join(await temporaryFolder(), 'lines');
  await writeFile(file, 'one\r\ntwo\nthree');
  await using handle = await open(file, 'r');
  const read = async (from: number): Promise<(string | undefined)[]> => {
    const found: (string | undefined)[] = [];
    for await (const lines of readLines(handle, { maxBytes: 100, bufferBytes: 4, from }))
      found.push(...lines.map(({ bytes }) => bytes?.toString()));
    return found;
  };
  expect(await read(0)).toEqual(['one', 'two', 'three']);
  expect(await read(5)).toEqual(['two', 'three']);
});
