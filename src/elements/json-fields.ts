import type { Json } from './metadata.js';

export type JsonObject = { readonly [key: string]: Json };

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets a field, whatever its name: an assignment would change the prototype for `__proto__`. */
export function setField(object: { [key: string]: Json }, name: string, value: Json): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** The value at a path of names; a name that itself holds dots is found first. */
export function fieldAt(object: JsonObject, path: string): Json | undefined {
  if (Object.hasOwn(object, path)) return object[path];
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const inner = object[path.slice(0, dot)];
    if (Object.hasOwn(object, path.slice(0, dot)) && isJsonObject(inner))
      return fieldAt(inner, path.slice(dot + 1));
  }
  return undefined;
}

/** Only the fields at these paths, as deep as they were. */
export function pickFields(object: JsonObject, paths: readonly string[]): JsonObject {
  const picked = new Map<string, Json>();
  const deeper = new Map<string, string[]>();
  for (const path of paths) {
    if (Object.hasOwn(object, path)) {
      picked.set(path, object[path]!);
      continue;
    }
    const dot = path.indexOf('.');
    if (dot === -1) continue;
    const head = path.slice(0, dot);
    deeper.set(head, [...(deeper.get(head) ?? []), path.slice(dot + 1)]);
  }
  for (const [head, tails] of deeper) {
    const inner = Object.hasOwn(object, head) ? object[head] : undefined;
    if (!picked.has(head) && isJsonObject(inner)) picked.set(head, pickFields(inner, tails));
  }
  return Object.fromEntries(picked);
}

/** Whether a value is nested at most so deep. Looks without recursion, since JSON may be nested without end. */
export function isNestedWithin(value: Json, limit: number): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return false;
    level = level.flatMap((inner) =>
      typeof inner === 'object' && inner !== null ? Object.values(inner) : [],
    );
  }
  return true;
}
