import { fieldAt } from '../../elements/json-fields.js';
import type { Json } from '../../elements/metadata.js';
import type { LookupRow } from '../../contracts/lookup.js';

/** Makes a text of a document's text and of a row. */
export type Template = (text: string, row: LookupRow) => string;

const part = /\{\{|\}\}|\{([^{}]+)\}|[{}]/g;

/**
 * A text with places: `{text}` is the document's own, `{name}` a field of the row (dots reach into objects), `{{` and `}}`
 * are braces. A field that is not there is empty.
 */
export function compileTemplate(template: string): Template {
  const parts: (string | { readonly field: string })[] = [];
  let from = 0;
  for (const found of template.matchAll(part)) {
    parts.push(template.slice(from, found.index));
    parts.push(found[1] === undefined ? found[0][0]! : { field: found[1].trim() });
    from = found.index + found[0].length;
  }
  parts.push(template.slice(from));
  return (text, row) =>
    parts
      .map((one) =>
        typeof one === 'string' ? one : one.field === 'text' ? text : shown(fieldAt(row, one.field)),
      )
      .join('');
}

/** What is wrong with a template; undefined when nothing is. */
export function templateFault(template: string): string | undefined {
  for (const [whole, field] of template.matchAll(part))
    if (field === undefined && whole.length === 1)
      return `has a "${whole}" without its partner: a brace of the text itself is written twice`;
  return undefined;
}

function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
