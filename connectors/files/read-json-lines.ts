import type { FileHandle } from 'node:fs/promises';
import type { ElementsDelivery } from '../../src/contracts/source.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { decodeText, utf16Mark } from './decode-text.js';
import { unreadableFile } from './file-errors.js';
import { openFile } from './open-file.js';
import { parseLine, type ParsedLine } from './parse-line.js';
import { readLines, type Line } from './read-lines.js';
import {
  changedThrice,
  deliveryBytes,
  deliveryElements,
  deliveryOf,
  elementOf,
  maxTries,
  type Finding,
  type Reader,
} from './reader.js';
import { isFresh, lookAt, lookFrom, type Look } from './stamp.js';

/**
 * Hands over a JSON Lines file, each line as one document. As with text files, what is handed over under a version was in
 * the file when the version was given; a file that only grows meanwhile need not be read again for that.
 */
export async function* readJsonLinesFile(reader: Reader, path: string): AsyncGenerator<ElementsDelivery> {
  for (let tries = 1; tries <= maxTries && !reader.context.signal.aborted; tries++)
    if ((yield* readOnce(reader, path, tries === maxTries)) === 'done') return;
}

interface Found {
  readonly line: Line;
  readonly finding: Finding;
}

/** @param last take the file as it is, however it changes */
async function* readOnce(
  reader: Reader,
  path: string,
  last: boolean,
): AsyncGenerator<ElementsDelivery, 'done' | 'changed'> {
  const { folder, context, report, clock } = reader;
  const opened = await openFile(folder, path);
  if (opened.kind === 'gone') return 'done';
  if (opened.kind === 'unreadable') {
    yield* failWhole(reader, path, opened.error);
    return 'done';
  }
  const { handle, stats } = opened;
  const before = lookFrom(stats);
  const batch = new Map<string, Found>();
  let bytes = 0;
  let handedBytes = 0;
  const flush = async (end: number): Promise<ElementsDelivery | 'done' | 'changed'> => {
    report.advance(end - handedBytes);
    handedBytes = end;
    const delivery = await handOver(reader, path, { found: [...batch.values()], handle, before, last });
    batch.clear();
    bytes = 0;
    return context.signal.aborted ? 'done' : delivery;
  };
  try {
    const reading = readLines(handle, { maxBytes: context.maxItemBytes });
    for (let lines = await next(reading, path); lines !== undefined; lines = await next(reading, path)) {
      if (lines instanceof MillraceError) {
        yield* failWhole(reader, path, lines);
        return 'done';
      }
      for (const line of lines) {
        const wrong = line.number === 1 ? wrongEncoding(line, path) : undefined;
        if (wrong !== undefined) {
          yield* failWhole(reader, path, wrong);
          return 'done';
        }
        const finding = findingOf(reader, path, line);
        if (finding === undefined) continue;
        // Of an id that comes twice the last one counts, so it takes the later place.
        batch.delete(finding.id);
        batch.set(finding.id, { line, finding });
        bytes += line.bytes?.length ?? 0;
        if (batch.size < deliveryElements && bytes < deliveryBytes) continue;
        const delivery = await flush(line.end);
        if (typeof delivery === 'string') return delivery;
        yield delivery;
      }
      if (context.signal.aborted) return 'done';
    }
    if (batch.size > 0) {
      const delivery = await flush(before.size);
      if (typeof delivery === 'string') return delivery;
      yield delivery;
    }
  } finally {
    await handle.close();
  }
  const after = await lookAt(folder, path);
  if (after === undefined) return 'done';
  const same = after.stamp === before.stamp;
  if (!same && !hasGrown(before, after) && !last) return 'changed';
  // Lines may have been missed, so none counts as vanished until the file is read again.
  if (!same) report.spare(`${path}/`);
  report.handedOver(path, same && !isFresh(after, clock.now()) ? after : undefined, 'read');
  return 'done';
}

/** The document that a line holds, or its failure; nothing for a blank line and one that is still being written. */
function findingOf({ context, fields, report }: Reader, path: string, line: Line): Finding | undefined {
  const parsed: ParsedLine = parseLine(line, { path, maxBytes: context.maxItemBytes, fields });
  switch (parsed.kind) {
    case 'blank':
      return undefined;
    case 'document':
      return { id: parsed.id, path, content: { text: parsed.text, metadata: parsed.metadata } };
    case 'malformed':
      // Whatever document this line was about must not vanish for it.
      if (!parsed.named) report.spare(`${path}/`);
      return isUnfinished(line) && context.watch && !parsed.named
        ? undefined
        : { id: parsed.id, path, content: parsed.error };
    default:
      return parsed satisfies never;
  }
}

/** It may still become whole; over the limit it can only become longer. */
function isUnfinished({ terminated, bytes }: Line): boolean {
  return !terminated && bytes !== undefined;
}

async function next(
  reading: AsyncGenerator<readonly Line[]>,
  path: string,
): Promise<readonly Line[] | MillraceError | undefined> {
  try {
    const { done, value } = await reading.next();
    return done === true ? undefined : value;
  } catch (error) {
    return unreadableFile(path, error);
  }
}

interface Batch {
  readonly found: readonly Found[];
  readonly handle: FileHandle;
  readonly before: Look;
  readonly last: boolean;
}

/** Gives the lines their versions and makes sure that they were in the file at that instant. */
async function handOver(
  { folder, context, report }: Reader,
  path: string,
  { found, handle, before, last }: Batch,
): Promise<ElementsDelivery | 'done' | 'changed'> {
  const versions = await context.observe(found.map(({ finding }) => finding.id));
  const now = await lookAt(folder, path);
  if (now === undefined) return 'done';
  const same = now.stamp === before.stamp || (hasGrown(before, now) && (await areThere(handle, found)));
  if (!same && !last) return 'changed';
  if (!same) report.notify(changedThrice(path));
  const elements = found.map(({ finding }, at) => elementOf(finding, versions[at]!));
  const paths = found.map(() => path);
  return deliveryOf(elements, paths, report);
}

function hasGrown(before: Look, now: Look): boolean {
  return now.file === before.file && now.size >= before.size;
}

/** Whether the file still holds these very lines. Lines over the limit are not compared. */
async function areThere(handle: FileHandle, found: readonly Found[]): Promise<boolean> {
  for (const { line } of found) {
    if (line.bytes === undefined) continue;
    const held = Buffer.allocUnsafe(line.bytes.length);
    const { bytesRead } = await handle.read(held, 0, held.length, line.start);
    if (bytesRead < held.length || !held.equals(line.bytes)) return false;
  }
  return true;
}

/** Why none of the file can be read, when its beginning says that it is UTF-16. */
function wrongEncoding({ bytes }: Line, path: string): MillraceError | undefined {
  if (bytes === undefined || utf16Mark(bytes) === undefined) return undefined;
  const decoded = decodeText(bytes, path);
  return decoded instanceof MillraceError ? decoded : undefined;
}

/** One failed element for all of a file; what it held before stays. */
async function* failWhole(
  { context, folder, report }: Reader,
  path: string,
  content: MillraceError,
): AsyncGenerator<ElementsDelivery> {
  const [version] = await context.observe([path]);
  report.spare(`${path}/`);
  report.handedOver(path, await lookAt(folder, path), 'failed');
  yield deliveryOf([elementOf({ id: path, path, content }, version!)], [path], report);
}
