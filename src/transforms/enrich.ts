import { MillraceError } from '../errors/millrace-error.js';
import type { DocumentTransform, EnrichBatch, Enrichment } from '../contracts/document-transform.js';
import { createDocument, type Document } from '../elements/document.js';
import { Batcher } from '../flow/batcher.js';

export interface EnrichOptions {
  /** What the step is called in messages and in the chain's digest. */
  readonly name: string;
  readonly enrich: EnrichBatch;
  /** Documents of one call at most. */
  readonly batchSize: number;
  /** Calls under way at once. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

/**
 * Adds to documents what a function gives for them, in batches gathered over all documents under way. Fields that both
 * have are taken from the enrichment. A document for which the function gives an Error, or throws also when it is asked
 * for it alone, is a failed element; its neighbours go on.
 */
export function createEnrich({
  name,
  enrich,
  batchSize,
  concurrency,
  signal,
}: EnrichOptions): DocumentTransform {
  const batcher = new Batcher<Document, Enrichment>({
    run: async (documents) => {
      signal.throwIfAborted();
      try {
        const enrichments = await enrich(documents, signal);
        if (enrichments.length === documents.length) return enrichments;
        throw new Error(`${documents.length} documents gave ${enrichments.length} enrichments.`);
      } catch (error) {
        signal.throwIfAborted();
        throw asTransformError(name, error);
      }
    },
    cost: () => 1,
    maxCost: batchSize,
    maxItems: batchSize,
    concurrency,
  });
  return {
    name,
    apply: async (document) => {
      const enrichment = await batcher.submit(document).catch((error: unknown) => {
        signal.throwIfAborted();
        throw asTransformError(name, error);
      });
      return createDocument({
        ...document,
        text: enrichment.text ?? document.text,
        metadata: { ...document.metadata, ...enrichment.metadata },
      });
    },
  };
}

function asTransformError(name: string, error: unknown): MillraceError {
  if (error instanceof MillraceError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new MillraceError('transform_failed', `The step "${name}" failed: ${message}`, { cause: error });
}
