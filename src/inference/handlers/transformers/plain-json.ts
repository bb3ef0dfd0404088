import type { Json } from '../../../elements/metadata.js';

/** What a pipeline gave, as JSON: tensors and typed arrays become lists, large integers numbers. */
export function plainJson(value: unknown): Json {
  if (typeof value === 'bigint') return Number(value);
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') return typeof value === 'function' ? null : (value as Json);
  if (hasList(value)) return plainJson(value.tolist());
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number | bigint>, plainJson);
  if (Array.isArray(value)) return value.map(plainJson);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainJson(inner)]));
}

function hasList(value: object): value is { tolist(): unknown } {
  return 'tolist' in value && typeof value.tolist === 'function';
}
