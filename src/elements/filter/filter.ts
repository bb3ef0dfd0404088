/** A value that a field of the metadata may have. */
export type FilterValue = string | number | boolean | null;

/** What a field is asked for beside equality; all that is written here must hold. */
export interface FieldTests {
  /** One of these values. */
  readonly $in?: readonly FilterValue[];
  /** The opposite: also true where the field is missing. */
  readonly $not?: FieldTest;
  /** There is something: the field is neither missing, nor null, nor an empty list. `false`: the opposite. */
  readonly $exists?: boolean;
  /** Bounds, of one kind: numbers, or times as `2024-05-01` or `2024-05-01T12:00:00.5+02:00` (UTC where none is named). */
  readonly $gt?: number | string;
  readonly $gte?: number | string;
  readonly $lt?: number | string;
  readonly $lte?: number | string;
}

/** A value that the field must have, several of which it must have one, or tests. */
export type FieldTest = FilterValue | readonly FilterValue[] | FieldTests;

/**
 * Conditions on the metadata of chunks, all of which must hold: `{ lang: 'en', 'meta.year': { $gte: 2020 } }`.
 *
 * - A key names a field. Dots reach into objects, never into lists; a dot within a name is written `\.`.
 * - A condition on a list holds when it holds for one of its elements; both bounds of a range for the same one.
 * - Values are equal when they are of the same type: `2020` is not `'2020'`, `null` is not a missing field.
 * - Numbers are compared with numbers alone, times with texts that are times alone, to the microsecond.
 * - Nothing is unknown: `$not` is true exactly where its condition is not.
 *
 * JSON, so that it can be written anywhere.
 */
export type Filter = {
  readonly $and?: readonly Filter[];
  readonly $or?: readonly Filter[];
  readonly $not?: Filter;
  readonly [path: string]: FieldTest | Filter | readonly Filter[] | undefined;
};
