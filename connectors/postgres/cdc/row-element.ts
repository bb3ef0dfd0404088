import { createDocument, type SourceElement } from '../../../src/elements/document.js';
import { setField } from '../../../src/elements/json-fields.js';
import { storable } from '../../../src/elements/text.js';
import type { Json } from '../../../src/elements/metadata.js';
import type { Version } from '../../../src/elements/version.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import type { RowPlan } from './row-plan.js';
import type { Tuple } from './tuple.js';

type Values = Tuple['values'];

/** Id of a row's document: the text of its id column, or of several joined by `/` (a `/` or `%` in them becomes %XX). */
export function idOf({ table, id }: RowPlan, values: Values): string {
  const own =
    id.length === 1
      ? values[id[0]!]!
      : id.map((at) => values[at]!.replace(/[%/]/g, (sign) => (sign === '%' ? '%25' : '%2F'))).join('/');
  return storable(table.mapping.prefix + own);
}

/** Key of a row, in the order of its index. */
export function keyOf({ key }: RowPlan, values: Values): string[] {
  return key.map((at) => values[at]!);
}

/** The document of a row. One too large becomes an unreadable element. */
export function rowElement(
  plan: RowPlan,
  { values, bytes, cut }: Tuple,
  version: Version,
  maxItemBytes: number,
): SourceElement {
  const id = idOf(plan, values);
  if (cut || bytes > maxItemBytes)
    return {
      kind: 'unreadable',
      id,
      version,
      error: new MillraceError(
        'item_too_large',
        `The row ${JSON.stringify(id)} of ${plan.table.name} has ${bytes} bytes; at most ${maxItemBytes} are allowed.`,
        { hint: 'Raise limits.maxItemBytes, or split the document.' },
      ),
    };
  const metadata: { [name: string]: Json } = {};
  for (const { name, at, read } of plan.metadata) {
    const value = values[at];
    setField(metadata, name, typeof value === 'string' ? read(value) : null);
  }
  return createDocument({ id, text: textOf(plan, values), metadata, version });
}

function textOf({ text }: RowPlan, values: Values): string {
  if (text.length === 1) return values[text[0]!] ?? '';
  return text
    .map((at) => values[at])
    .filter((part) => typeof part === 'string')
    .join('\n\n');
}
