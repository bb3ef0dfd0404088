import type { FoundColumn } from './field-column.js';
import type { IndexPlan } from './index-plan.js';
import { quoteName, quoteText, type TableNames } from './names.js';

/** An index of the column of a metadata field: of whole values, or of the elements of lists. */
export function columnIndexPlan(
  names: TableNames,
  key: string,
  { name, type, indexName }: FoundColumn,
): IndexPlan {
  return {
    name: indexName,
    counted: `${quoteName(name)} is not null`,
    bytesEach: 200,
    create: (concurrently) => ({
      text: `create index ${concurrently ? 'concurrently ' : ''}if not exists ${quoteName(indexName)}
             on ${names.chunks} using ${type === 'text[]' ? 'gin' : 'btree'} (${quoteName(name)})
             where pipeline = ${quoteText(key)}`,
    }),
  };
}
