import type { Source } from '../contracts/source.js';
import type { Store } from '../contracts/store.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { rereadStored, type RereadStoredOptions } from './reread-stored.js';

export interface Rereading {
  readonly source: Source;
  /** How often the source hands over anew what it has, in ms; undefined: never. */
  readonly everyMs: number | undefined;
}

/**
 * How unchanged documents are enriched anew, as often as the most impatient step asks for: from the source, or, where that
 * cannot be read again, from what the store keeps of it.
 * @param store prepared: it says whether it keeps texts
 * @throws MillraceError `config_invalid` when neither can hand over again what was handed over
 */
export async function rereading(
  { documentSteps, source: { connector } }: PipelineSpec,
  source: Source,
  { sink, texts }: Pick<Store, 'sink' | 'texts'>,
  context: Pick<RereadStoredOptions, 'clock' | 'report'>,
): Promise<Rereading> {
  const asked = documentSteps.flatMap(({ enrich, lookup }) => (enrich ?? lookup)?.refreshEveryMs ?? []);
  if (asked.length === 0) return { source, everyMs: undefined };
  const everyMs = Math.min(...asked);
  if (source.rereads === true) return { source, everyMs };
  if (texts !== undefined && (await texts.keeping()) === 'always')
    return { source: rereadStored({ source, sink, texts, ...context }), everyMs };
  throw new MillraceError(
    'config_invalid',
    `\`refreshEvery\` needs a source that can be read again, which ${connector} is not, or a store that keeps what it gave.`,
    {
      hint: 'Write `keepText: true` under the sink. Or leave it out: a document is enriched when it comes.',
    },
  );
}
