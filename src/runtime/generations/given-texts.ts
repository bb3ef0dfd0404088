import type { KeptTexts } from '../../contracts/kept-texts.js';
import type { Store } from '../../contracts/store.js';
import { MillraceError } from '../../errors/millrace-error.js';

export interface GivenTextsOptions {
  /** What makes other texts, one line a difference. */
  readonly changed: readonly string[];
  /** The generation is there already: documents whose text is not kept are told one by one. */
  readonly begun: boolean;
  /** What is not kept will be read from the source. */
  readonly fromSource: boolean;
}

/**
 * What another chunker or enrichment is filled from. @throws MillraceError `artifact_mismatch` unless it is kept of every
 * stored document, or will be read from the source
 */
export async function givenTexts(
  { texts }: Pick<Store, 'texts'>,
  { changed, begun, fromSource }: GivenTextsOptions,
): Promise<KeptTexts> {
  const refused = (why: string, hint: string) =>
    new MillraceError(
      'artifact_mismatch',
      `The new chain makes other texts than those that are stored, ${why}:\n${changed.map((line) => `  ${line}`).join('\n')}`,
      { hint },
    );
  if (texts === undefined)
    throw refused(
      'and this store does not keep what they were made of',
      'Set these back, or fill another store.',
    );
  if (fromSource) {
    await texts.begin();
    return texts;
  }
  const both =
    'Read the source for it: `millrace generations start --from-source`. Or keep texts: `keepText: true` on the sink, and a run that comes to every document.';
  if ((await texts.keeping()) === 'no') throw refused('and what they were made of is not kept', both);
  const { documents, first } = await texts.missing();
  if (documents > 0 && !begun)
    throw refused(
      `and of ${documents} documents is not kept what they were made of; the first is ${JSON.stringify(first)}`,
      both,
    );
  return texts;
}
