import type { ConnectorContext } from '../../../src/contracts/context.js';
import type { SourceState } from '../../../src/contracts/source.js';
import type { SourceMemory } from './memory.js';
import { lookAtSlot } from './slot.js';
import { sqlStateOf } from './sql-state.js';
import type { SqlSession } from './sql-session.js';

export interface StandbyOptions {
  readonly slot: string;
  readonly takeoverMs: number;
  readonly state: SourceState;
  readonly connector: Pick<ConnectorContext, 'clock' | 'notify'>;
  readonly signal: AbortSignal;
}

const lookMs = 250;

/**
 * Waits while another process reads the slot. One whose sign of life in the store stands still is dead, or cut off from
 * the store: its connection is ended, since the server may not notice that for long.
 */
export class Standby {
  readonly #options: StandbyOptions;
  #pulse: string | undefined;
  #since = 0;
  #told = false;

  constructor(options: StandbyOptions) {
    this.#options = options;
  }

  /** Resolves once nobody reads the slot. */
  async wait(sql: SqlSession): Promise<void> {
    const { slot, takeoverMs, state, connector, signal } = this.#options;
    const { clock, notify } = connector;
    for (;;) {
      const { reader, made } = (await lookAtSlot(sql, slot)) ?? {};
      if (reader === undefined) return;
      const memory = (await state.read()) as SourceMemory | undefined;
      const pulse = `${memory?.holder} ${memory?.beat}`;
      if (pulse !== this.#pulse) {
        this.#pulse = pulse;
        this.#since = clock.now();
      }
      // Who makes it gives no sign yet, and lets go of it by itself.
      if (made === true && clock.now() - this.#since >= takeoverMs) {
        this.#since = clock.now();
        if (await cutOff(sql, reader))
          notify({
            level: 'warn',
            code: 'slot_taken_over',
            message: `The reader of the slot ${slot} gave no sign of life for ${takeoverMs} ms: its connection (pid ${reader}) was ended.`,
          });
      } else if (!this.#told) {
        this.#told = true;
        notify({
          level: 'info',
          code: 'slot_busy',
          message: `Another process reads the slot ${slot}: this one waits, and takes over when it is gone.`,
        });
      }
      await clock.sleep(lookMs, signal);
    }
  }
}

/** @returns false where this role may not */
async function cutOff(sql: SqlSession, pid: number): Promise<boolean> {
  try {
    const [row] = await sql.rows('select pg_terminate_backend($1::int)', [String(pid)]);
    return row![0] === 't';
  } catch (error) {
    if (sqlStateOf(error) === '42501') return false;
    throw error;
  }
}
