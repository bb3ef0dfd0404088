import type { Delivery } from '../../../src/contracts/source.js';
import { deliverChanges } from './deliver-changes.js';
import { deliverRows } from './deliver-rows.js';
import { endOfFlushedLog } from './end-of-log.js';
import type { Lsn } from './lsn.js';
import type { Session, SessionOptions } from './session.js';
import type { Settlements } from './settlements.js';
import { visibility } from './visibility.js';

const idleMs = 1_000;
const pollMs = 100;
/** An empty stream for so long may be all that there is: then the server is asked. */
const lullMs = 20;

/** Reads sessions, one after the other: changes first, and between them the rows that were there before. */
export class SessionReader {
  readonly #options: SessionOptions;
  readonly #settlements: Settlements;
  /** Said, and true as long as nothing comes, be it by another session. */
  #caughtUp = false;
  /** When all rows are read anew. */
  #rereadAt: number;

  constructor(options: SessionOptions, settlements: Settlements) {
    this.#options = options;
    this.#settlements = settlements;
    this.#rereadAt = this.#nextReread();
  }

  /** Ends where the source has caught up, unless it is watched, or the signal aborts. */
  async *deliveries(session: Session): AsyncGenerator<Delivery> {
    const { config, connector, context } = this.#options;
    const { clock } = connector;
    const { signal, watch, maxItemBytes } = context;
    const { assembly, stream } = session;
    const settled = (settle: () => void) => this.#settlements.settled(session, settle);
    const swept = () => {
      this.#rereadAt = this.#nextReread();
    };
    const rows = { rows: config.batch, maxItemBytes, settled, swept };
    let visible = visibility(session, connector);
    let target: Lsn | undefined;
    let emptySince: number | undefined;
    let reading = session.backfill !== undefined;
    while (!signal.aborted) {
      const assembled = await assembly.next();
      if (assembled !== undefined) {
        this.#caughtUp = false;
        target = undefined;
        emptySince = undefined;
        yield* deliverChanges(session, assembled, settled);
        if (signal.aborted) return;
      }
      if (reading && (await visible())) {
        const delivery = await deliverRows(session, rows);
        reading = delivery.kind === 'elements';
        yield delivery;
        continue;
      }
      if (assembled !== undefined) continue;
      if (session.backfill === undefined && clock.now() >= this.#rereadAt) {
        await session.reread();
        visible = visibility(session, connector);
        reading = true;
        continue;
      }
      if (!reading && !this.#caughtUp) {
        const now = clock.now();
        emptySince ??= now;
        // Between two parts of a backlog too the stream is empty for a moment.
        if (now - emptySince < lullMs) {
          await stream.more(lullMs - (now - emptySince));
          continue;
        }
        if (target !== undefined && session.position >= target) {
          if (!watch) return;
          this.#caughtUp = true;
          yield { kind: 'caught-up' };
          continue;
        }
        target ??= await endOfFlushedLog(session.sql);
        stream.confirm(session.confirmations.confirmed, true);
      }
      await stream.more(this.#caughtUp ? idleMs : pollMs);
    }
  }

  #nextReread(): number {
    const { connector, context } = this.#options;
    return connector.clock.now() + (context.rereadEveryMs ?? Infinity);
  }
}
