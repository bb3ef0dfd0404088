import type { PassScope, Source } from '../../contracts/source.js';
import type { SourceElement } from '../../elements/document.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { lookingContext } from '../looking-context.js';

export interface ReadOptions {
  readonly signal: AbortSignal;
  readonly maxItemBytes: number;
  /** Told what was read whole. Without a call all of the source was. */
  onScope(scope: PassScope): void;
}

/**
 * All that a source holds now, each document once, leaving no mark.
 * @throws MillraceError `config_invalid` where there is no whole to read
 */
export async function* readWhole(source: Source, options: ReadOptions): AsyncGenerator<SourceElement> {
  const { signal, maxItemBytes, onScope } = options;
  if (source.audit !== undefined) {
    yield* source.audit({ signal, maxItemBytes });
    return;
  }
  if (source.endless === true)
    throw new MillraceError(
      'config_invalid',
      `The source "${source.name}" keeps no whole that a store could be compared with: what was trimmed from it is known to nobody.`,
      {
        hint: 'Files and tables can be audited. `millrace failed list` shows which entries of a stream did not come through.',
      },
    );
  for await (const delivery of source.deliveries(lookingContext(signal, maxItemBytes))) {
    signal.throwIfAborted();
    if (delivery.kind === 'elements') yield* delivery.elements;
    if (delivery.kind === 'complete') onScope(delivery.scope);
  }
  signal.throwIfAborted();
}
