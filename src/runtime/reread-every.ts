import type { Source } from '../contracts/source.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { PipelineSpec } from '../pipeline/spec.js';

/**
 * How often unchanged documents are enriched anew, in ms: as often as the most impatient step asks for.
 * @throws MillraceError `config_invalid` when the source cannot hand over again what it has handed over
 */
export function rereadEvery(
  { documentSteps, source: { connector } }: PipelineSpec,
  source: Source,
): number | undefined {
  const asked = documentSteps.flatMap(({ enrich, lookup }) => (enrich ?? lookup)?.refreshEveryMs ?? []);
  if (asked.length === 0) return undefined;
  if (source.rereads === true) return Math.min(...asked);
  throw new MillraceError(
    'config_invalid',
    `\`refreshEvery\` needs a source that can be read again, which ${connector} is not.`,
    { hint: 'Leave it out: a document is enriched when it comes.' },
  );
}
