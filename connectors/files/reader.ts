import type { Clock } from '../../src/contracts/context.js';
import type { ElementsDelivery, SourceContext } from '../../src/contracts/source.js';
import { createDocument, type SourceElement } from '../../src/elements/document.js';
import type { Metadata } from '../../src/elements/metadata.js';
import type { Version } from '../../src/elements/version.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { JsonLinesFields } from './config.js';
import type { Folder } from './folder.js';
import type { ListReport } from './list.js';
import type { Look } from './stamp.js';

/** What the reading of files needs, and whom it tells. */
export interface Reader {
  readonly folder: Folder;
  readonly fields: JsonLinesFields;
  readonly context: SourceContext;
  readonly clock: Clock;
  readonly report: ReadReport;
}

export interface ReadReport extends ListReport {
  /** All of a file was handed over as it was at this look; without one it must be read again. */
  handedOver(path: string, look: Look | undefined, state: 'read' | 'failed'): void;
  /** The store knew a newer version of something in this file. */
  stale(path: string): void;
  /** So many bytes more were handed over, or will never be. */
  advance(bytes: number): void;
  /** Share of the bytes that were handed over, as far as it is known. */
  progress(): number | undefined;
}

/** How often a file that changes while it is read is read anew before it is handed over as it is. */
export const maxTries = 3;
/** A delivery is handed over once it holds so many elements or bytes of input. */
export const deliveryElements = 256;
export const deliveryBytes = 1 << 20;

/** What was found for one document, before it has a version. */
export interface Finding {
  readonly id: string;
  readonly content: { readonly text: string; readonly metadata: Metadata } | MillraceError;
  /** The file it was found in. */
  readonly path: string;
}

export function elementOf({ id, content }: Finding, version: Version): SourceElement {
  if (content instanceof MillraceError) return { kind: 'unreadable', id, version, error: content };
  return createDocument({ id, version, ...content });
}

export function deliveryOf(
  elements: readonly SourceElement[],
  paths: readonly string[],
  report: ReadReport,
): ElementsDelivery {
  const progress = report.progress();
  return {
    kind: 'elements',
    elements,
    ...(progress === undefined ? {} : { progress }),
    async settle(outcomes) {
      for (const [at, { kind }] of outcomes.entries()) if (kind === 'stale') report.stale(paths[at]!);
    },
  };
}

export function changedThrice(path: string): Parameters<ListReport['notify']>[0] {
  return {
    level: 'warn',
    code: 'file_changing',
    message: `${path} changed while it was read, ${maxTries} times: it was taken as it was found.`,
  };
}
