import type { Enrichment } from '../../contracts/document-transform.js';
import type { LookupRow } from '../../contracts/lookup.js';
import type { Document } from '../../elements/document.js';
import { withField } from '../../elements/field-path.js';
import type { Metadata } from '../../elements/metadata.js';

/**
 * How a row comes into a document. Of fields that both have, `left` keeps the document's and `right` takes the row's;
 * `nested` puts the row under a name of its own; a function does as it likes.
 */
export type JoinRule = 'left' | 'right' | 'nested' | JoinFunction;
export type JoinFunction = (document: Document, row: LookupRow) => Enrichment;

/** @param into name, for `nested`; dots reach into objects */
export function joinRow(
  document: Document,
  row: LookupRow,
  join: Exclude<JoinRule, JoinFunction>,
  into: string | undefined,
): Metadata {
  const { metadata } = document;
  switch (join) {
    case 'left':
      return { ...row, ...metadata };
    case 'right':
      return { ...metadata, ...row };
    case 'nested':
      return withField(metadata, `metadata.${into}`, row);
    default:
      return join satisfies never;
  }
}
