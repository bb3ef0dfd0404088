import { createDocument, type SourceElement } from '../../../src/elements/document.js';
import { cleanText } from '../../../src/elements/text.js';
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
  return cleanText(table.mapping.prefix + own).text;
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
  const texts = plan.text.map((at) => values[at]).filter((text) => typeof text === 'string');
  const metadata = plan.metadata.map(({ name, at, read }): [string, Json] => {
    const value = values[at];
    return [name, typeof value === 'string' ? read(value) : null];
  });
  return createDocument({
    id,
    text: texts.join('\n\n'),
    // Not by assignment: a column may be called __proto__.
    metadata: Object.fromEntries(metadata),
    version,
  });
}
