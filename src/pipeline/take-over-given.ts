import type { GivenContent, LedgerEntry } from '../contracts/sink.js';
import type { Version } from '../elements/version.js';
import { MillraceError } from '../errors/millrace-error.js';
import { processDocument, type DocumentTaskContext } from './document-task.js';
import type { Trace } from './trace.js';

/**
 * Brings a stored document through the whole chain once more, from what its source gave, under the version it has.
 * @param given undefined where it was not kept
 * @returns how many texts went through a model
 * @throws MillraceError `transform_failed` without a kept text, and as the chain does
 */
export async function takeOverGiven(
  { documentId: id, source }: LedgerEntry,
  version: Version,
  given: GivenContent | undefined,
  context: Omit<DocumentTaskContext, 'source'>,
  trace: Trace,
): Promise<number> {
  if (given === undefined)
    throw new MillraceError(
      'transform_failed',
      `What the source gave of document ${JSON.stringify(id)} is not kept.`,
      { hint: 'Read it from there: `millrace generations start --from-source`, while the source has it.' },
    );
  const document = { kind: 'document', id, version, ...given } as const;
  const { outcome } = await processDocument(document, { ...context, source }, trace);
  return outcome.kind === 'stored' ? outcome.embedded : 0;
}
