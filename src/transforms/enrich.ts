import { messageOf } from '../errors/message-of.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { DocumentTransform, EnrichBatch, Enrichment } from '../contracts/document-transform.js';
import { createDocument, type Document } from '../elements/document.js';
import type { Clock } from '../contracts/context.js';
import { Batcher } from '../flow/batcher.js';
import { retry } from '../flow/retry.js';
import { untilAborted } from '../errors/until-aborted.js';
import type { Report } from '../observability/events.js';

export interface EnrichOptions {
  /** What the step is called in messages and in the chain's digest. */
  readonly name: string;
  readonly enrich: EnrichBatch;
  /** Documents of one call at most. */
  readonly batchSize: number;
  /** Calls under way at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/**
 * Adds to documents what a function gives for them, in batches gathered over all documents under way. Fields that both
 * have are taken from the enrichment. A document for which the function gives an Error, or throws also when it is asked
 * for it alone, is a failed element; its neighbours go on. An outage that the function reports by its code is waited out.
 */
export function createEnrich({
  name,
  enrich,
  batchSize,
  concurrency,
  clock,
  signal,
  report,
}: EnrichOptions): DocumentTransform {
  const batcher = new Batcher<Document, Enrichment>({
    run: (documents) =>
      retry(() => call(documents), {
        clock,
        signal,
        onRetry: (event) => report({ type: 'retry', lane: name, ...event }),
        onRecovered: () => report({ type: 'recovered', lane: name }),
      }),
    cost: () => 1,
    maxCost: batchSize,
    maxItems: batchSize,
    concurrency,
  });

  async function call(documents: readonly Document[]): Promise<readonly (Enrichment | Error)[]> {
    try {
      // A function that pays no heed to the signal must not hold up a stop.
      const enrichments = await untilAborted((async () => enrich(documents, signal))(), signal);
      if (!Array.isArray(enrichments))
        throw new Error(`It gave ${typeof enrichments}, not a list with an enrichment a document.`);
      if (enrichments.length === documents.length) return enrichments;
      throw new Error(`${documents.length} documents gave ${enrichments.length} enrichments.`);
    } catch (error) {
      signal.throwIfAborted();
      throw asTransformError(name, error);
    }
  }

  return {
    name,
    apply: async (document) => {
      const enrichment = await batcher.submit(document).catch((error: unknown) => {
        signal.throwIfAborted();
        throw asTransformError(name, error);
      });
      const fault = enrichmentFault(enrichment);
      if (fault !== undefined)
        throw new MillraceError('transform_failed', `The step "${name}" gave ${fault}.`, {
          hint: 'It gives { text, metadata } for each document: a text and an object, or one of them, or {}.',
        });
      return createDocument({
        ...document,
        text: enrichment.text ?? document.text,
        metadata: { ...document.metadata, ...enrichment.metadata },
      });
    },
  };
}

/** A type is no proof: what a function of the configuration gives was never compiled against it. */
function enrichmentFault(given: unknown): string | undefined {
  if (!isObject(given)) return 'no enrichment for this document';
  const { text, metadata } = given as { text?: unknown; metadata?: unknown };
  if (text !== undefined && text !== null && typeof text !== 'string')
    return `a text that is ${kindOf(text)}`;
  if (metadata !== undefined && metadata !== null && !isObject(metadata))
    return `metadata that is ${kindOf(metadata)}`;
  return undefined;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'a list' : `of the type ${typeof value}`;
}

function asTransformError(name: string, error: unknown): MillraceError {
  if (error instanceof MillraceError) return error;
  const message = messageOf(error);
  return new MillraceError('transform_failed', `The step "${name}" failed: ${message}`, { cause: error });
}
