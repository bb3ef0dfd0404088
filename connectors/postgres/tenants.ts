import { createHash } from 'node:crypto';
import type { Condition } from '../../src/elements/filter/condition.js';
import type { SqlConnection } from './connection.js';
import { tenantColumn, type FieldColumn } from './config-columns.js';
import type { IndexPlan } from './index-plan.js';
import type { FoundLayout, FoundSpace } from './layout.js';
import { quoteText, type TableNames } from './names.js';
import { vectorIndexPlan } from './vector-index.js';

/** Whether the chunks of a pipeline are kept by tenant. */
export function isByTenant(columns: readonly FieldColumn[]): boolean {
  return columns.some(({ name }) => name === tenantColumn);
}

/** The one tenant whose chunks a filter leaves; undefined where it leaves others, or nobody looked through them yet. */
export function tenantAsked({ columns }: FoundLayout, filter: Condition): string | undefined {
  const column = columns.find(({ name }) => name === tenantColumn);
  if (column?.filled !== 'whole') return undefined;
  const path = JSON.stringify(column.path);
  const find = (condition: Condition): string | undefined => {
    if (condition.kind === 'all') return condition.of.map(find).find((one) => one !== undefined);
    if (condition.kind !== 'in' || condition.values.length !== 1 || JSON.stringify(condition.path) !== path)
      return undefined;
    const [value] = condition.values;
    return typeof value === 'string' ? value : undefined;
  };
  return find(filter);
}

/** Name of the index of the vectors of one tenant. */
export function tenantIndexName({ index }: FoundSpace, tenant: string): string {
  return `${index}_t${createHash('sha256').update(tenant).digest('hex').slice(0, 12)}`;
}

/** An index of the vectors of one tenant alone: of others it knows nothing, so a search in it need not pass over them. */
export function tenantIndexPlan(
  names: TableNames,
  key: string,
  space: FoundSpace,
  tenant: string,
): IndexPlan {
  return vectorIndexPlan(names, key, space, {
    name: tenantIndexName(space, tenant),
    condition: `${tenantColumn} = ${quoteText(tenant)}`,
  });
}

/** Tenants with so many chunks at least. @param key of the generation */
export async function largeTenants(
  connection: SqlConnection,
  names: TableNames,
  key: string,
  chunks: number,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const text = `select ${tenantColumn} as tenant from ${names.chunks} where pipeline = $1 and ${tenantColumn} is not null
                group by 1 having count(*) >= $2 order by 1`;
  const rows = await connection.query({ text, values: [key, chunks] }, signal);
  return rows.map((row) => row['tenant'] as string);
}
