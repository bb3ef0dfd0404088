import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

const words =
  'river mill water grain stone wheel flour bread field farmer market window engine paper letter garden'.split(
    ' ',
  );

/** Writes short documents, one a line: two sentences of some twenty words that differ from line to line. */
export async function writeJsonLines(file: string, documents: number): Promise<void> {
  const stream = createWriteStream(file);
  let state = 7;
  const word = () => words[(state = (state * 48_271) % 0x7fffffff) % words.length]!;
  for (let id = 0; id < documents; id += 1) {
    const text = `Note ${id}: ${Array.from({ length: 10 }, word).join(' ')}. ${Array.from({ length: 10 }, word).join(' ')}.`;
    if (!stream.write(`${JSON.stringify({ id: `note-${id}`, text, shelf: id % 100 })}\n`))
      await once(stream, 'drain');
  }
  stream.end();
  await finished(stream);
}
