import type { StoredChunk } from '../contracts/chunk-search.js';
import type { Store } from '../contracts/store.js';
import type { Condition } from '../elements/filter/condition.js';
import { isJsonObject } from '../elements/json-fields.js';
import type { Json } from '../elements/metadata.js';
import { MillraceError } from '../errors/millrace-error.js';

/** Whose documents are asked, in a store that keeps those of several. */
export interface TenantOptions {
  /** Only the documents of this tenant. */
  readonly tenant?: string;
  /** Those of all tenants. */
  readonly allTenants?: boolean;
}

/**
 * The filter with the tenant in it.
 * @throws MillraceError `config_invalid` where nothing says whose documents are asked, or more than one thing does, or where
 * the store has no tenants
 */
export function ofTenant(
  { tenant: path }: Pick<Store, 'tenant'>,
  filter: Condition,
  { tenant, allTenants = false }: TenantOptions,
): Condition {
  if (path === undefined) {
    if (tenant === undefined && !allTenants) return filter;
    throw wrong(
      'The store has no tenants.',
      'Name the field that says whose a document is: `tenant` of the sink.',
    );
  }
  if (tenant !== undefined && allTenants)
    throw wrong(
      'A question is asked of one tenant or of all, not of both.',
      'Leave `tenant` or `allTenants` out.',
    );
  if (tenant !== undefined) return { kind: 'all', of: [{ kind: 'in', path, values: [tenant] }, filter] };
  if (allTenants || namesOne(filter, path)) return filter;
  throw wrong(
    'The store keeps documents of several tenants, and the question does not say whose are asked.',
    `Name one (\`tenant\`, or ${JSON.stringify({ [path.join('.')]: '…' })} in the filter), or ask for \`allTenants\`.`,
  );
}

/** Whose a chunk is. @param path of the field that says so */
export function tenantOf(path: readonly string[], chunk: StoredChunk | undefined): Json | undefined {
  return path.reduce<Json | undefined>(
    (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    chunk?.metadata,
  );
}

/** Whether a filter leaves documents of one tenant alone. */
function namesOne(filter: Condition, path: readonly string[]): boolean {
  if (filter.kind === 'all') return filter.of.some((one) => namesOne(one, path));
  return (
    filter.kind === 'in' && filter.values.length === 1 && JSON.stringify(filter.path) === JSON.stringify(path)
  );
}

function wrong(message: string, hint: string): MillraceError {
  return new MillraceError('config_invalid', message, { hint });
}
