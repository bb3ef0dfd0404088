import type { Json, Metadata } from '../../elements/metadata.js';
import { isPlainObject } from '../../elements/plain-object.js';
import type { Inference } from './infer-lane.js';

/** A result as it is stored: an object keeps its fields, anything else is under `value`; each tells its model. */
export function labelled({ modelId, value }: Inference): Metadata {
  // A Date is an object too, without fields: whole under `value` it takes its JSON form, or is refused.
  return isObject(value) && isPlainObject(value) ? { ...value, modelId } : { value, modelId };
}

/** Results of a step with several models: each under the name of its model, and their labels as `{model}:{label}`. */
export interface KeyedResults extends Metadata {
  readonly labels: readonly string[];
  readonly results: { readonly [model: string]: Metadata };
}

export function labelledByModel(inferences: ReadonlyMap<string, Inference>): KeyedResults {
  const results = Object.fromEntries([...inferences].map(([name, one]) => [name, labelled(one)]));
  return {
    labels: Object.entries(results).flatMap(([name, result]) =>
      labelsOf(result).map((label) => `${name}:${label}`),
    ),
    results,
  };
}

/** What a result says in a word or several: its `labels`, its `label`, or the value itself where that is a plain one. */
export function labelsOf(result: Metadata): string[] {
  const { labels, label, value } = result;
  if (Array.isArray(labels))
    return labels.flatMap((one: Json) => (isPlain(one) ? [String(one)] : labelsOf(isObject(one) ? one : {})));
  const plain = label ?? value;
  return isPlain(plain) ? [String(plain)] : [];
}

function isPlain(value: Json | undefined): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function isObject(value: Json | undefined): value is Metadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
