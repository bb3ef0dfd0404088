import type { SweepScope } from '../../src/contracts/sink.js';
import { scan, type IdScope } from './id-pages.js';
import { below } from './ledger.js';
import type { PointFilter, QdrantPort } from './port.js';

/** Stored documents of a source. */
function storedFilter(source: string): PointFilter {
  return {
    must: [
      { key: 'source', match: { value: source } },
      { key: 'state', match: { value: 'stored' } },
    ],
  };
}

/** Stored documents of a scope that its pass did not name. */
export function unnamedScope(scope: SweepScope): IdScope {
  const { source, since } = scope;
  const failedBefore = { should: [{ is_empty: { key: 'f.a' } }, below('f', since)] };
  return {
    filter: { must: [...storedFilter(source).must!, below('v', since), failedBefore] },
    accepts: accepts(scope),
    key: JSON.stringify(scope),
  };
}

/** @see Sink.countUnnamed */
export async function countUnnamed(
  port: QdrantPort,
  ledger: string,
  scope: SweepScope,
): Promise<{ readonly stored: number; readonly unnamed: number }> {
  const stored = { filter: storedFilter(scope.source), accepts: accepts(scope) };
  const unnamed = unnamedScope(scope);
  const count = async (one: Omit<IdScope, 'key'>) => {
    if (scope.prefix === '' && scope.except.length === 0) return port.count(ledger, one.filter);
    let found = 0;
    for await (const _ of scan(port, ledger, one)) found += 1;
    return found;
  };
  return { stored: await count(stored), unnamed: await count(unnamed) };
}

function accepts({ prefix, except }: SweepScope): (id: string) => boolean {
  return (id) => id.startsWith(prefix) && !except.some((outside) => id.startsWith(outside));
}
