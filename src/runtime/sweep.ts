import type { PassScope } from '../contracts/source.js';
import type { Sink, SweepScope } from '../contracts/sink.js';
import type { Deletion } from '../elements/document.js';
import { isMassDeletion } from '../elements/mass-deletion.js';
import { MillraceError } from '../errors/millrace-error.js';

export interface SweepOptions {
  readonly sink: Sink;
  readonly source: string;
  readonly scope: PassScope;
  /** Deletes however many documents are gone. */
  readonly allowMassDeletion: boolean;
  readonly signal: AbortSignal;
}

const page = 500;

/**
 * After a complete pass: deletions for the stored documents that it did not name, page by page. Their version is the
 * beginning of the pass: whatever anybody saw since then wins over them.
 * @throws MillraceError `mass_deletion` before the first deletion, when implausibly many are gone
 */
export async function* sweep(options: SweepOptions): AsyncGenerator<Deletion[]> {
  const { sink, source, signal } = options;
  const scope: SweepScope = { source, ...options.scope };
  const { unnamed } = await sink.countUnnamed(scope);
  // Of all that the source has, not of the scope: a small file that was emptied is no catastrophe.
  const { stored } = await sink.countUnnamed({ ...scope, prefix: '', except: [] });
  if (isMassDeletion(unnamed, stored) && !options.allowMassDeletion)
    throw new MillraceError(
      'mass_deletion',
      `${unnamed} of ${stored} documents of the source "${source}" are gone at once. Nothing was deleted.`,
      {
        hint: 'If that is right, run once with --allow-mass-deletion. If not, look whether the source is complete.',
      },
    );
  for (let after: string | undefined; ;) {
    signal.throwIfAborted();
    const ids = await sink.listUnnamed(scope, after, page);
    if (ids.length === 0) return;
    after = ids.at(-1);
    yield ids.map((id) => ({ kind: 'deletion', id, version: scope.since }));
  }
}
