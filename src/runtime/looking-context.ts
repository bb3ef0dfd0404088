import type { SourceContext } from '../contracts/source.js';
import { versionOf } from '../elements/version.js';

const first = versionOf(0, 0n);

/** For a reading of which nothing is kept: versions do not count, and the source has no memory. */
export function lookingContext(signal: AbortSignal, maxItemBytes: number): SourceContext {
  return {
    signal,
    watch: false,
    maxItemBytes,
    allowMassDeletion: false,
    passStart: () => Promise.resolve(first),
    observe: (ids) => Promise.resolve(ids.map(() => first)),
    state: { read: () => Promise.resolve(undefined), replace: () => Promise.resolve(true) },
    lag: () => undefined,
  };
}
