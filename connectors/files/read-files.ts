import { extname } from 'node:path';
import type { ElementsDelivery } from '../../src/contracts/source.js';
import { readJsonLinesFile } from './read-json-lines.js';
import { readTextFiles } from './read-text-files.js';
import { deliveryElements, type Reader } from './reader.js';

const jsonLines = new Set(['.jsonl', '.ndjson']);

/** Whether each line of a file is a document of its own, by the file's extension. */
export function isJsonLines(path: string): boolean {
  return jsonLines.has(extname(path).toLowerCase());
}

/** Hands over files in their order, text files together in deliveries of a sensible size. */
export async function* readFiles(
  reader: Reader,
  blocks: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
): AsyncGenerator<ElementsDelivery> {
  let texts: string[] = [];
  for await (const block of blocks) {
    for (const path of block) {
      const lines = isJsonLines(path);
      if (!lines) texts.push(path);
      if (texts.length >= deliveryElements || (lines && texts.length > 0)) {
        yield* readTextFiles(reader, texts);
        texts = [];
      }
      if (lines) yield* readJsonLinesFile(reader, path);
      if (reader.context.signal.aborted) return;
    }
  }
  if (texts.length > 0) yield* readTextFiles(reader, texts);
}
