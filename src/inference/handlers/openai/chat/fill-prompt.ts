import type { Json } from '../../../../elements/metadata.js';
import { MillraceError } from '../../../../errors/millrace-error.js';

/**
 * Puts an item into a prompt: `{{text}}` is an item that is no object, `{{name}}` a field of one that is. What is no text
 * becomes JSON. What a document holds is never taken for a placeholder.
 * @throws MillraceError `inference_failed` for a name that the item lacks
 */
export function fillPrompt(prompt: string, item: Json): string {
  const fields = typeof item === 'object' && item !== null && !Array.isArray(item) ? item : { text: item };
  return prompt.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(fields, name) ? (fields as { [name: string]: Json })[name] : undefined;
    if (value === undefined)
      throw new MillraceError('inference_failed', `The prompt asks for {{${name}}}, which this item lacks.`, {
        hint: `It has ${Object.keys(fields).join(', ')}.`,
      });
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}
