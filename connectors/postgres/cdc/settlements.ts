import type { Clock } from '../../../src/contracts/context.js';
import { progressOf } from './progress.js';
import type { Session } from './session.js';

const endMs = 1_000;

/**
 * Keeps in the store what is settled at or after the end of a session, at once: before, that is done beside the reading,
 * now and then. What is settled after the next session has begun is not kept: it comes again.
 */
export class Settlements {
  readonly #clock: Clock;
  #session: Session | undefined;
  #ending = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(session: Session): void {
    this.#session = session;
    this.#ending = false;
  }

  async settled(session: Session, settle: () => void): Promise<void> {
    settle();
    if (session === this.#session && (this.#ending || session.closed))
      await record(session).catch(() => undefined);
  }

  /** Keeps what is durable so far, for as long as that may take. */
  async end(session: Session): Promise<void> {
    const late = new AbortController();
    this.#ending = true;
    const kept = record(session).then(
      () => session.stream.confirm(session.confirmations.confirmed),
      () => undefined,
    );
    await Promise.race([kept, this.#clock.sleep(endMs, late.signal).catch(() => undefined)]);
    late.abort();
  }
}

async function record(session: Session): Promise<void> {
  await session.confirmations.record(() => progressOf(session));
}
