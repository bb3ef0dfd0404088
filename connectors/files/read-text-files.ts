import { extname } from 'node:path';
import type { ElementsDelivery } from '../../src/contracts/source.js';
import type { SourceElement } from '../../src/elements/document.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { readText } from './read-text.js';
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
import { isFresh, lookAt, type Look } from './stamp.js';

interface Waiting {
  readonly path: string;
  readonly tries: number;
  readonly look: Look;
}

interface Reading {
  readonly from: Waiting;
  readonly finding: Finding;
}

/**
 * Hands over text files, each whole as one document whose id is its path. The content under a version is what the file
 * held when that version was given: the looks before the reading and after the giving must be the same, else the file is
 * read again.
 */
export async function* readTextFiles(
  reader: Reader,
  paths: readonly string[],
): AsyncGenerator<ElementsDelivery> {
  const { signal } = reader.context;
  let waiting = await Promise.all(paths.map((path) => begin(reader, path, 1)));
  while (waiting.length > 0 && !signal.aborted) {
    const { taken, left } = takeSome(waiting.filter((file) => file !== undefined));
    const again: Waiting[] = [];
    const delivery = await readSome(reader, taken, again);
    if (signal.aborted) return;
    if (delivery !== undefined) yield delivery;
    waiting = [...again, ...left];
  }
}

async function begin({ folder }: Reader, path: string, tries: number): Promise<Waiting | undefined> {
  const look = await lookAt(folder, path);
  return look && { path, tries, look };
}

/** As many as make one delivery, at least one. */
function takeSome(waiting: readonly Waiting[]): { taken: readonly Waiting[]; left: readonly Waiting[] } {
  let bytes = 0;
  const over = waiting.findIndex(({ look }, at) => {
    bytes += look.size;
    return at > 0 && (bytes > deliveryBytes || at >= deliveryElements);
  });
  const end = over === -1 ? waiting.length : over;
  return { taken: waiting.slice(0, end), left: waiting.slice(end) };
}

/** @param again gets the files that changed meanwhile */
async function readSome(
  reader: Reader,
  files: readonly Waiting[],
  again: Waiting[],
): Promise<ElementsDelivery | undefined> {
  const { context, folder, report, clock } = reader;
  const readings = (await Promise.all(files.map((file) => readOne(reader, file)))).filter(
    (reading) => reading !== undefined,
  );
  if (readings.length === 0) return undefined;
  const versions = await context.observe(readings.map(({ finding }) => finding.id));
  const looks = await Promise.all(readings.map(({ finding }) => lookAt(folder, finding.path)));
  const elements: SourceElement[] = [];
  const handed: string[] = [];
  for (const [at, { from, finding }] of readings.entries()) {
    const look = looks[at];
    if (look === undefined) continue;
    const same = look.stamp === from.look.stamp;
    if (!same && from.tries < maxTries) {
      again.push({ path: from.path, tries: from.tries + 1, look });
      continue;
    }
    if (!same) report.notify(changedThrice(from.path));
    const known = same && !isFresh(look, clock.now()) ? look : undefined;
    report.handedOver(from.path, known, finding.content instanceof MillraceError ? 'failed' : 'read');
    report.advance(look.size);
    elements.push(elementOf(finding, versions[at]!));
    handed.push(from.path);
  }
  return elements.length === 0 ? undefined : deliveryOf(elements, handed, report);
}

async function readOne({ folder, context }: Reader, from: Waiting): Promise<Reading | undefined> {
  const { path } = from;
  const text = await readText(folder, path, context.maxItemBytes);
  if (text === undefined) return undefined;
  const content = text instanceof MillraceError ? text : { text, metadata: { path, format: formatOf(path) } };
  return { from, finding: { id: path, path, content } };
}

const markdown = new Set(['.md', '.markdown', '.mdx']);

function formatOf(path: string): 'markdown' | 'text' {
  return markdown.has(extname(path).toLowerCase()) ? 'markdown' : 'text';
}
