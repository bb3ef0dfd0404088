import type { ErrorCode } from '../errors/codes.js';
import type { FailedFilter, Stage } from './failed-record.js';

/** What a filter looks at, of a record or of an index over records. */
export interface FailedFacts {
  readonly documentId: string;
  readonly stage: Stage;
  readonly code: ErrorCode;
}

export function matchesFailed(
  { documentId, stage, code }: FailedFacts,
  { code: wantedCode, stage: wantedStage, idPrefix = '' }: FailedFilter = {},
): boolean {
  return (
    documentId.startsWith(idPrefix) &&
    (wantedCode === undefined || wantedCode === code) &&
    (wantedStage === undefined || wantedStage === stage)
  );
}
