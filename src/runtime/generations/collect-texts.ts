import type { Clock } from '../../contracts/context.js';
import type { KeptTexts, OfferedText } from '../../contracts/kept-texts.js';
import type { Source, SourceState } from '../../contracts/source.js';
import type { SourceElement } from '../../elements/document.js';
import { retry } from '../../flow/retry.js';
import { readWhole } from '../audit/read-whole.js';

export interface CollectOptions {
  readonly texts: KeptTexts;
  readonly source: Source;
  readonly state: SourceState;
  readonly maxItemBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const documentsAtOnce = 200;
const charactersAtOnce = 2 * 1024 * 1024;

/**
 * Reads a source whole, leaving no mark, and keeps what it gives of stored documents that lack it. Writers go on: what they
 * store since `KeptTexts.begin` brings its own text. @returns how many were taken
 * @throws MillraceError `source_gap` for a log that has lost some of its entries
 */
export async function collectTexts(options: CollectOptions): Promise<number> {
  const { texts, source, clock, signal } = options;
  let [taken, characters] = [0, 0];
  let some = new Map<string, OfferedText>();

  async function offer(): Promise<void> {
    const offered = [...some.values()];
    taken += await retry(() => texts.offer(source.name, offered, signal), { clock, signal });
    some = new Map();
    characters = 0;
  }

  for await (const element of elementsOf(options)) {
    if (element.kind !== 'document') continue;
    const { id, text, metadata, version } = element;
    // Versions of one document in a log follow each other: each is offered by itself.
    if (some.has(id)) await offer();
    some.set(id, {
      documentId: id,
      text,
      metadata,
      version: source.history === undefined ? undefined : version,
    });
    characters += text.length;
    if (some.size >= documentsAtOnce || characters >= charactersAtOnce) await offer();
  }
  await offer();
  return taken;
}

function elementsOf({ source, state, maxItemBytes, signal }: CollectOptions): AsyncIterable<SourceElement> {
  if (source.history !== undefined) return source.history({ signal, maxItemBytes, state });
  return readWhole(source, { signal, maxItemBytes, onScope: () => undefined });
}
