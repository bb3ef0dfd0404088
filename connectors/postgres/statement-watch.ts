import type { Clock } from '../../src/contracts/context.js';

export interface StatementWatch {
  readonly clock: Clock;
  /** A statement that takes so long is asked after, and again each time as long has passed. */
  readonly everyMs: number;
  /** Whether the server works on it. A rejection says that nobody can tell. */
  isWorking(): Promise<boolean>;
  /** Called when the server does not: the answer was lost on its way, or the statement was. */
  giveUp(): void;
}

/** Time for an answer that is under way while the server is asked. */
const graceMs = 1_000;

/**
 * Waits for a statement. A connection that something between here and the server has dropped in silence would be waited
 * on for ever; a time limit would end long statements that are well (an index being built). So the server is asked.
 */
export async function watched<T>(
  statement: Promise<T>,
  { clock, everyMs, isWorking, giveUp }: StatementWatch,
): Promise<T> {
  const answered = new AbortController();
  void look().catch(() => undefined);
  try {
    return await statement;
  } finally {
    answered.abort();
  }

  async function look(): Promise<void> {
    const { signal } = answered;
    for (;;) {
      await clock.sleep(everyMs, signal);
      if (await isWorking().catch(() => false)) continue;
      await clock.sleep(Math.min(graceMs, everyMs), signal);
      if (signal.aborted) return;
      giveUp();
      return;
    }
  }
}
