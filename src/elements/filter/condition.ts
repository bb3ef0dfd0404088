import type { FilterValue } from './filter.js';

/** A filter that was read and is sound: what stores compile. Its meaning is that of `Filter`. */
export type Condition =
  /** None at all: true. */
  | { readonly kind: 'all'; readonly of: readonly Condition[] }
  /** None at all: false. */
  | { readonly kind: 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | FieldCondition;

export type FieldCondition =
  /** The field, or an element of it, is one of these. */
  | { readonly kind: 'in'; readonly path: FieldPath; readonly values: readonly FilterValue[] }
  /** The field is neither missing, nor null, nor an empty list. */
  | { readonly kind: 'exists'; readonly path: FieldPath }
  /** The field, or an element of it, is a number within. */
  | { readonly kind: 'numbers'; readonly path: FieldPath; readonly bounds: Bounds<number> }
  /** The field, or an element of it, is a text that is a time (see `filterTime`) within: `2024-05-01T10:00:00.500000Z`. */
  | { readonly kind: 'times'; readonly path: FieldPath; readonly bounds: Bounds<string> };

/** Names from the outside in, at least one. */
export type FieldPath = readonly string[];

/** At least one. */
export interface Bounds<Value> {
  readonly gt?: Value;
  readonly gte?: Value;
  readonly lt?: Value;
  readonly lte?: Value;
}
