import type { Clock } from '../../contracts/context.js';
import { MillraceError } from '../../errors/millrace-error.js';

export interface WatchBranchOptions {
  readonly everyMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The commit that the branch stands for now. */
  commitOf(signal: AbortSignal): Promise<string>;
  /** Hears of each look that failed. */
  onFault(error: MillraceError): void;
}

/** What a branch stands for now. */
export interface BranchNews {
  readonly commit: string;
  /** Nothing came of it that would last: it is told again at the next look. */
  forget(): void;
}

/** Tells the commit of a branch, until the signal aborts: at the first look, and whenever it is another one. */
export async function* watchBranch(options: WatchBranchOptions): AsyncGenerator<BranchNews> {
  const { everyMs, clock, signal, commitOf, onFault } = options;
  let told: string | undefined;
  while (!signal.aborted) {
    try {
      await clock.sleep(everyMs, signal);
      const commit = await commitOf(signal);
      if (commit === told) continue;
      told = commit;
      yield { commit, forget: () => (told = undefined) };
    } catch (error) {
      if (signal.aborted) return;
      onFault(MillraceError.from(error));
    }
  }
}
