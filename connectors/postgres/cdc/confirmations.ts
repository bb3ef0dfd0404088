import type { SourceState } from '../../../src/contracts/source.js';
import { Interrupted } from './interrupted.js';
import { parseLsn, printLsn, type Lsn } from './lsn.js';
import { remember, type SourceMemory } from './memory.js';
import type { Progress } from './progress.js';

/**
 * Keeps in the store what is durable. It is written there before the server hears of it: so a slot that is beyond what the
 * store knows has lost changes.
 */
export class Confirmations {
  readonly #state: SourceState;
  readonly #holder: string;
  /** Agreed upon when this process began to read. */
  readonly #agreed: Agreed;
  #confirmed: Lsn;
  #writing: Promise<void> | undefined;
  #again: Promise<void> | undefined;

  private constructor(state: SourceState, holder: string, memory: SourceMemory) {
    this.#state = state;
    this.#holder = holder;
    this.#agreed = memory;
    this.#confirmed = parseLsn(memory.confirmed);
  }

  /**
   * From now on this process is the one that reads.
   * @param agreed upon with what the store held @throws Interrupted when another process came between
   */
  static async begin(state: SourceState, holder: string, agreed: SourceMemory): Promise<Confirmations> {
    const memory = await remember(state, (known) =>
      known !== undefined && agree(known, agreed) ? { ...known, holder, beat: known.beat + 1 } : undefined,
    );
    if (memory?.holder !== holder) throw new Interrupted('Another process changed what is read.');
    return new Confirmations(state, holder, memory);
  }

  /** What the server may be told. */
  get confirmed(): Lsn {
    return this.#confirmed;
  }

  /**
   * Writes what `progress` says when it is this one's turn, and a sign of life. Calls that come meanwhile share the next
   * writing.
   * @throws Interrupted when another process reads the slot now
   */
  async record(progress: () => Progress): Promise<void> {
    if (this.#writing === undefined) return this.#begin(progress);
    this.#again ??= this.#writing
      .catch(() => undefined)
      .then(() => {
        this.#again = undefined;
        return this.#begin(progress);
      });
    return this.#again;
  }

  async #begin(progress: () => Progress): Promise<void> {
    this.#writing = this.#write(progress()).finally(() => (this.#writing = undefined));
    return this.#writing;
  }

  async #write({ durable, backfill }: Progress): Promise<void> {
    let evicted = false;
    await remember(this.#state, (known) => {
      evicted = known?.holder !== this.#holder || !agree(known, this.#agreed);
      if (evicted) return undefined;
      return {
        ...known!,
        confirmed: printLsn(later(durable, parseLsn(known!.confirmed))),
        backfill,
        beat: known!.beat + 1,
      };
    });
    if (evicted) throw new Interrupted('Another process reads the slot now.');
    this.#confirmed = later(durable, this.#confirmed);
  }
}

type Agreed = Pick<SourceMemory, 'epoch' | 'mapping'>;

function agree(a: Agreed, b: Agreed): boolean {
  return a.epoch === b.epoch && a.mapping === b.mapping;
}

function later(a: Lsn, b: Lsn): Lsn {
  return a > b ? a : b;
}
