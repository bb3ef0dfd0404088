import type { QdrantPort } from '../../../connectors/qdrant/port.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';

/** What becomes of the request under way when its process is killed. */
export const fates = ['lost', 'in effect', 'late'] as const;
export type Fate = (typeof fates)[number];

const changing = new Set(['create', 'indexFrom', 'index', 'insert', 'replace', 'update', 'drop', 'alias']);

/** The port of a process that is killed at its nth change. */
export function mortalPort(port: QdrantPort, nth: number, fate: Fate) {
  let changes = 0;
  let late = async () => {};
  const calls = Object.entries(port) as [keyof QdrantPort, (...args: unknown[]) => Promise<unknown>][];
  const mortal = Object.fromEntries(
    calls.map(([name, call]) => [
      name,
      async (...args: unknown[]) => {
        if (changing.has(name) && changes < nth) {
          changes += 1;
          if (changes === nth && fate === 'in effect') await call(...args);
          if (changes === nth && fate === 'late') late = async () => void (await call(...args));
        }
        if (changes === nth) throw new MillraceError('aborted', 'killed');
        return call(...args);
      },
    ]),
  ) as unknown as QdrantPort;
  return { mortal, killed: () => changes === nth, late: () => late() };
}
