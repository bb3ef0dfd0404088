import type { DocumentTransform } from '../../contracts/document-transform.js';
import { createDocument } from '../../elements/document.js';
import { withField, type FieldPath } from '../../elements/field-path.js';
import type { InferStep } from './infer-step.js';

export interface InferDocumentsOptions {
  readonly name: string;
  /** `text`, or a place in the metadata. */
  readonly to: FieldPath;
  readonly step: InferStep;
}

/** A step before the chunker: its result becomes the document's text, or a part of its metadata. */
export function createInferDocuments({ name, to, step }: InferDocumentsOptions): DocumentTransform {
  return {
    name,
    apply: async (document, _signal, enter) => {
      const [result] = await step(document, [{ document }], enter);
      if (result === undefined) return document;
      return createDocument(
        to === 'text'
          ? { ...document, text: result as string }
          : { ...document, metadata: withField(document.metadata, to, result) },
      );
    },
  };
}
