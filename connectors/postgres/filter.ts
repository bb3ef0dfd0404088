import type { Filter } from '../../src/contracts/chunk-search.js';
import type { SqlValue } from './connection.js';

/**
 * Conditions on the metadata, with all that the user wrote as parameters.
 * @param first number of the first free parameter
 */
export function filterSql(
  filter: Filter,
  first: number,
): { readonly sql: string; readonly values: SqlValue[] } {
  const values: SqlValue[] = [];
  const conditions = Object.entries(filter).map(([path, wanted]) => {
    const any = Array.isArray(wanted) ? wanted : [wanted];
    values.push(
      path.split('.'),
      any.map((value) => JSON.stringify(value)),
    );
    const at = first + values.length - 2;
    // In jsonb an array contains each of its elements, and a scalar contains itself.
    return ` and metadata #> $${at}::text[] @> any($${at + 1}::text[]::jsonb[])`;
  });
  return { sql: conditions.join(''), values };
}
