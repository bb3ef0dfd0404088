import type { DocumentTransform, Enrichment } from '../../contracts/document-transform.js';
import type { LookupRow } from '../../contracts/lookup.js';
import { createDocument, type Document } from '../../elements/document.js';
import { pickFields } from '../../elements/json-fields.js';
import { messageOf } from '../../errors/message-of.js';
import { MillraceError } from '../../errors/millrace-error.js';
import type { Ask } from './ask.js';
import { documentKey } from './document-key.js';
import { joinRow, type JoinRule } from './join-row.js';
import { compileTemplate } from './template.js';

export interface LookupStepOptions {
  readonly name: string;
  /** What a document is looked up by: `id`, or a place in its metadata. */
  readonly key: string;
  readonly ask: Ask;
  /** Of a row only these. */
  readonly fields: 'all' | readonly string[];
  readonly join: JoinRule;
  /** Where a `nested` row goes. */
  readonly into?: string | undefined;
  readonly missing: MissingRow;
  /** Makes the document's new text. */
  readonly template?: string | undefined;
  /** Fields go into the metadata. */
  readonly metadata: boolean;
}

/** What becomes of a document without a row: it goes on as it is, fails, or gets this row. */
export type MissingRow = 'skip' | 'fail' | { readonly default: LookupRow };

/** Adds to each document the row that is looked up by a key of its own. */
export function createLookupStep(options: LookupStepOptions): DocumentTransform {
  const { name, key, ask, fields, join, into, missing, metadata } = options;
  const fill = options.template === undefined ? undefined : compileTemplate(options.template);

  function enrichmentOf(document: Document, row: LookupRow): Enrichment {
    if (typeof join === 'function') return callJoin(document, row);
    return {
      ...(metadata && { metadata: joinRow(document, row, join, into) }),
      ...(fill && { text: fill(document.text, row) }),
    };
  }

  function callJoin(document: Document, row: LookupRow): Enrichment {
    try {
      const { metadata, text } = (join as Extract<JoinRule, (...all: never[]) => unknown>)(document, row);
      return {
        ...(metadata !== undefined && { metadata: { ...document.metadata, ...metadata } }),
        ...(text !== undefined && { text }),
      };
    } catch (cause) {
      if (cause instanceof MillraceError) throw cause;
      const message = messageOf(cause);
      throw new MillraceError('transform_failed', `\`join\` of "${name}" failed: ${message}`, { cause });
    }
  }

  function instead(found: string | undefined): LookupRow | undefined {
    if (missing === 'skip') return undefined;
    if (missing !== 'fail') return missing.default;
    throw new MillraceError(
      'transform_failed',
      found === undefined
        ? `The document has nothing at ${key}, by which "${name}" looks it up.`
        : `"${name}" found no row for ${key} ${JSON.stringify(found)}.`,
      { hint: 'Add the row and replay, or set `missing: skip` or a default.' },
    );
  }

  return {
    name,
    async apply(document) {
      const by = documentKey(document, key);
      const found = by === undefined ? undefined : await ask(by).catch((error: unknown) => fail(name, error));
      const row = found ?? instead(by);
      if (row === undefined) return document;
      const picked = fields === 'all' ? row : pickFields(row, fields);
      return createDocument({ ...document, ...enrichmentOf(document, picked) });
    },
  };
}

/** A key that fails by itself fails its documents: whatever it threw is classified. */
function fail(name: string, error: unknown): never {
  if (error instanceof MillraceError) throw error;
  const message = messageOf(error);
  throw new MillraceError('transform_failed', `The look-up "${name}" failed: ${message}`, { cause: error });
}
