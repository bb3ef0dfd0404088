import type { Store } from '../contracts/store.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { PipelineSpec } from '../pipeline/spec.js';

/** @throws MillraceError `config_invalid` when the chain keeps terms and the store cannot search by them */
export function checkTerms({ sparse, sink }: PipelineSpec, store: Store): void {
  if (sparse === undefined || store.search.searchTerms !== undefined) return;
  throw new MillraceError(
    'config_invalid',
    `chain: a store of the kind "${sink.connector}" cannot search by words.`,
    { hint: 'Leave out the step `sparse`, or fill a store of another kind: pglite, postgres, qdrant.' },
  );
}
