import { Refusal } from './refusal.js';

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/**
 * The values that a path of Qdrant finds: names by dots, quoted where they hold anything but letters, digits, `_` and
 * `-`; `[]` goes through a list, `[n]` to one element. A list at the end is given as it is.
 */
export function valuesAt(payload: Json, path: string): Json[] {
  let found: Json[] = [payload];
  for (const step of steps(path))
    found = found.flatMap((value): Json[] => {
      if (step === 'all') return Array.isArray(value) ? value : [];
      if (typeof step === 'number') return Array.isArray(value) && step in value ? [value[step]!] : [];
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
      return Object.hasOwn(value, step.name) ? [value[step.name]!] : [];
    });
  return found;
}

const token = /(?:"([^"]+)"|([\p{L}\p{N}_-]+))|\[(\d*)\]/uy;

function steps(path: string): (number | 'all' | { readonly name: string })[] {
  const found: (number | 'all' | { readonly name: string })[] = [];
  for (let at = 0; at < path.length;) {
    if (found.length > 0 && path[at] !== '[') {
      if (path[at] !== '.') throw invalid(path);
      at += 1;
    }
    token.lastIndex = at;
    const match = token.exec(path);
    if (match === null) throw invalid(path);
    const [whole, quoted, plain, index] = match;
    if (index !== undefined && found.length === 0) throw invalid(path);
    const name = quoted ?? plain;
    found.push(name !== undefined ? { name } : index === '' ? 'all' : Number(index));
    at += whole.length;
  }
  if (found.length === 0) throw invalid(path);
  return found;
}

function invalid(path: string): Refusal {
  return new Refusal(400, `Format error in JSON body: Invalid json path: '${path}'`);
}
