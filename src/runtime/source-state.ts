import type { Artifacts } from '../contracts/artifacts.js';
import type { SourceState } from '../contracts/source.js';

/** What a source remembers, as an artifact of its own in the store. */
export function sourceState(artifacts: Artifacts, source: string): SourceState {
  const name = `source ${source}`;
  return {
    read: () => artifacts.read(name),
    replace: (expected, value) => artifacts.replace(name, expected, value),
  };
}
