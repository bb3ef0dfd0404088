import type { KeptTexts } from '../../contracts/kept-texts.js';
import type { GivenContent, LedgerEntry, Sink } from '../../contracts/sink.js';
import type { Version } from '../../elements/version.js';

export interface GivenDocument {
  readonly entry: LedgerEntry;
  /** Of this version or of a newer one, whose writer has noted the document again; undefined where it is not kept. */
  readonly given: GivenContent | undefined;
}

/** Documents of a generation with what their sources gave; unknown ones are left out. */
export async function readGiven(
  active: Pick<Sink, 'ledger'>,
  texts: Pick<KeptTexts, 'read'>,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly GivenDocument[]> {
  const found: GivenDocument[] = [];
  /** Stored at this version, and then without a text. */
  const lacking = new Map<string, Version | undefined>();
  for (let open = ids; open.length > 0;) {
    const entries = [...(await active.ledger(open, signal)).values()];
    const kept = await texts.read(open, signal);
    // Between the two looks it may have been deleted, and its text with it: only who stands there again lacks it.
    const unsure = ({ documentId, state, version }: LedgerEntry) =>
      state === 'stored' && !kept.has(documentId) && lacking.get(documentId) !== version;
    found.push(
      ...entries
        .filter((entry) => !unsure(entry))
        .map((entry) => ({ entry, given: kept.get(entry.documentId) })),
    );
    const again = entries.filter(unsure);
    for (const { documentId, version } of again) lacking.set(documentId, version);
    open = again.map(({ documentId }) => documentId);
  }
  return found;
}
