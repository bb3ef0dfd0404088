import type { Stage } from '../../contracts/failed-store.js';
import type { Document } from '../../elements/document.js';
import { withField, type FieldPath } from '../../elements/field-path.js';
import { cleanJson } from '../../elements/clean-json.js';
import { cleanText } from '../../elements/text.js';
import type { TokenPassages } from '../chunk/pooled-chunker.js';
import { passageMetadata } from '../chunk/passage-metadata.js';
import type { ContextItem, FittedItem } from './context-service.js';
import type { InferStep } from './infer-step.js';

export interface InferChunksOptions {
  /** A place in the metadata, or `context`: a text that is put before the chunk's where it is embedded. */
  readonly to: FieldPath;
  readonly step: InferStep;
  /** Cuts contexts to what fits. */
  fit(items: readonly ContextItem[]): Promise<readonly FittedItem[]>;
}

/** A step after the chunker. The slices stay what they are: a result is metadata, or goes before the embedded text. */
export type InferChunks = (
  document: Document,
  found: TokenPassages,
  enter: (stage: Stage) => void,
) => Promise<TokenPassages>;

export function createInferChunks({ to, step, fit }: InferChunksOptions): InferChunks {
  return async (document, { passages, ids }, enter) => {
    const subjects = passages.map((passage, ordinal) => ({
      document,
      chunk: {
        ordinal,
        text: document.text.slice(passage.start, passage.end),
        metadata: passageMetadata(document, passage),
      },
    }));
    const results = await step(document, subjects, enter);
    if (to !== 'context') {
      const described = passages.map((passage, at) => {
        const result = results[at];
        if (result === undefined) return passage;
        return { ...passage, metadata: withField(subjects[at]!.chunk.metadata, to, cleanJson(result)) };
      });
      return { passages: described, ids };
    }
    const items = passages.map(({ prefix = '' }, at) => ({
      context: cleanText((results[at] as string | undefined) ?? '').text,
      text: prefix + subjects[at]!.chunk.text,
    }));
    const fitted = await fit(items);
    return {
      passages: passages.map((passage, at) => {
        const { prefix, tokens } = fitted[at]!;
        return { ...passage, prefix: prefix + (passage.prefix ?? ''), tokens };
      }),
      ids: fitted.map((one) => one.ids),
    };
  };
}
