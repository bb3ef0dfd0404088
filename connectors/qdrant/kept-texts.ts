import type { KeptTexts, OfferedText } from '../../src/contracts/kept-texts.js';
import type { GivenContent, TouchWrite } from '../../src/contracts/sink.js';
import type { WriteRole } from './create-sink.js';
import { keptSince } from './head-changes.js';
import { scan } from './id-pages.js';
import { startKeeping, type KeepSettingParts } from './keep-setting.js';
import { textPoint, type LedgerRecord } from './ledger.js';
import { documentKey } from './names.js';
import type { Place } from './places.js';
import { readLedger } from './read-ledger.js';
import { readTexts } from './read-texts.js';
import type { Tell } from './settle.js';
import type { RequestBounds } from './upload.js';
import { writeDocuments, type Writer } from './write.js';

export interface KeptTextsParts extends KeepSettingParts {
  readonly pipeline: string;
  readonly bounds: RequestBounds;
  /** Of the active generation. */
  readonly role: WriteRole;
  tell(place: Place): Tell;
}

/** How often a document may be replaced while it is read. */
const mostLooks = 10;

/** What the sources of a pipeline gave, as the active generation keeps it. @see docs/design.md, Kept texts on Qdrant */
export function qdrantKeptTexts(parts: KeptTextsParts): KeptTexts {
  const { port, heads, places, pipeline, clock, bounds, role, tell } = parts;

  return {
    keeping: async (signal) => (await heads.read(signal))?.keeps?.mode ?? 'no',
    begin: (signal) => startKeeping(parts, 'meanwhile', signal),
    read: async (ids, signal) => {
      const place = await places.active(signal);
      const since = keptSince(await heads.read(signal));
      const found = new Map<string, GivenContent>();
      if (place === undefined || since === undefined) return found;
      let open = ids.map((id) => documentKey(pipeline, id));
      for (let looks = 0; looks < mostLooks && open.length > 0; looks += 1) {
        const records = await readLedger(port, place.names, open, tell(place), signal);
        const kept = [...records.values()].filter(isStored);
        const texts = await readTexts(port, place.names.texts, kept, since, signal);
        for (const record of kept) {
          const text = texts.get(textPoint(record, since) ?? '');
          if (text !== undefined) found.set(record.entry.documentId, text);
        }
        // A text that was replaced since its record was read is looked for anew.
        const gone = kept.filter((record) => {
          const point = textPoint(record, since);
          return point !== undefined && !texts.has(point);
        });
        open = gone.map(({ id }) => id);
      }
      return found;
    },
    missing: async (signal) => {
      const place = await places.active(signal);
      if (place === undefined) return { documents: 0, first: undefined };
      const scope = { filter: lackingFilter(keptSince(await heads.read(signal))), accepts: () => true };
      let documents = 0;
      let first: string | undefined;
      for await (const id of scan(port, place.names.ledger, scope, signal)) {
        documents += 1;
        if (first === undefined || Buffer.compare(Buffer.from(id), Buffer.from(first)) < 0) first = id;
      }
      return { documents, first };
    },
    offer: async (source, documents, signal) => {
      const place = documents.length === 0 ? undefined : await places.active(signal);
      if (place === undefined) return 0;
      return role.during(place, signal, async (looks) => {
        const writer = { port, names: place.names, pipeline, clock, bounds, ...looks };
        const touches = await touchesOf(writer, source, documents, signal);
        const results = await writeDocuments(writer, place.spaces, touches, signal);
        return results.filter(({ kind }) => kind === 'done').length;
      });
    },
  };
}

/** Documents that are stored and lack their text, as touches of the version that they have. */
async function touchesOf(
  { port, names, pipeline, look, tell }: Writer,
  source: string,
  documents: readonly OfferedText[],
  signal?: AbortSignal,
): Promise<readonly TouchWrite[]> {
  const { keptSince: since } = await look(signal);
  if (since === undefined) return [];
  const keyOf = ({ documentId }: OfferedText) => documentKey(pipeline, documentId);
  const records = await readLedger(port, names, documents.map(keyOf), tell, signal);
  return documents.flatMap((offered): TouchWrite[] => {
    const record = records.get(keyOf(offered));
    if (record === undefined || !isStored(record) || textPoint(record, since) !== undefined) return [];
    const { version, contentHash, chainDigest, ...entry } = record.entry;
    if (entry.source !== source || (offered.version !== undefined && offered.version !== version)) return [];
    const { documentId, text, metadata } = offered;
    const content = { contentHash: contentHash!, chainDigest: chainDigest! };
    return [{ kind: 'touch', documentId, source, version: version!, ...content, given: { text, metadata } }];
  });
}

function isStored({ entry }: LedgerRecord): boolean {
  return entry.state === 'stored';
}

/** Stored documents whose text is not kept. */
function lackingFilter(since: number | undefined) {
  const stored = { key: 'state', match: { value: 'stored' } };
  if (since === undefined) return { must: [stored] };
  const kept = {
    must: [{ key: 'text_since', match: { value: since } }],
    must_not: [{ is_empty: { key: 'text_write' } }],
  };
  return { must: [stored], must_not: [kept] };
}
