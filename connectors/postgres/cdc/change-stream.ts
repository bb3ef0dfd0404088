import type { Clock } from '../../../src/contracts/context.js';
import type { Lsn } from './lsn.js';
import { decodeMessage, type Decoding, type StreamEvent } from './pgoutput.js';
import type { Replication, StreamListener, StreamOptions } from './replication.js';
import { Wake } from './wake.js';

/** What was read and waits to be taken: events of the stream, and words that all up to a position was sent. */
export type Waiting = StreamEvent | { readonly kind: 'position'; readonly lsn: Lsn };

const taken: Waiting = { kind: 'position', lsn: 0n };

/** Beyond these the server has to wait: what waits here outlives the young generation, and costs memory and collection. */
const maxEvents = 512;
const maxBytes = 8 << 20;

/**
 * The stream of a slot, decoded as it comes and kept until it is taken. While it is full nothing is read from the
 * connection; what is confirmed goes out all the same.
 */
export class ChangeStream implements StreamListener {
  readonly #replication: Replication;
  readonly #clock: Clock;
  readonly #decoding: Decoding;
  readonly #wake: Wake;
  #waiting: Waiting[] = [];
  #taken = 0;
  #bytes = 0;
  #paused = false;
  #received: Lsn = 0n;
  #confirmed: Lsn = 0n;
  #heardAt: number;
  #fault: Error | undefined;

  constructor(replication: Replication, decoding: Omit<Decoding, 'relations'>, clock: Clock) {
    this.#replication = replication;
    this.#clock = clock;
    this.#wake = new Wake(clock);
    this.#decoding = { ...decoding, relations: new Map() };
    this.#heardAt = clock.now();
  }

  async start(options: StreamOptions): Promise<void> {
    this.#received = options.from;
    this.#confirmed = options.from;
    await this.#replication.start(options, this);
    this.#heardAt = this.#clock.now();
  }

  /** The next event; undefined while there is none. @throws what ended the stream, once everything before was taken */
  take(): Waiting | undefined {
    const event = this.#waiting[this.#taken];
    if (event === undefined) {
      this.#waiting = [];
      this.#taken = 0;
      this.#bytes = 0;
      this.#resume();
      if (this.#fault !== undefined) throw this.#fault;
      return undefined;
    }
    // Not held here any longer than need be.
    this.#waiting[this.#taken] = taken;
    this.#taken += 1;
    return event;
  }

  /** Resolves when there may be something to take or the stream has ended, after `ms` at the latest. */
  async more(ms: number): Promise<void> {
    if (this.#taken < this.#waiting.length || this.#fault !== undefined) return;
    await this.#wake.wait(ms);
  }

  /** Tells the server what is durable; with what it told before, when nothing is new. */
  confirm(durable: Lsn, replyWanted = false): void {
    this.#confirmed = durable;
    this.#replication.confirm(this.#received, durable, replyWanted);
  }

  /** How long nothing was heard, in ms, although it was listened to. */
  get silentMs(): number {
    return this.#paused ? 0 : this.#clock.now() - this.#heardAt;
  }

  message(bytes: Buffer, from: number, to: number): void {
    this.#heardAt = this.#clock.now();
    const event = decodeMessage(bytes, from, to, this.#decoding);
    if (event !== undefined) this.#push(event, to - from);
  }

  keepalive(lsn: Lsn, replyWanted: boolean): void {
    this.#heardAt = this.#clock.now();
    if (lsn > this.#received) this.#received = lsn;
    if (this.#waiting.length > this.#taken && this.#waiting.at(-1)!.kind === 'position') this.#waiting.pop();
    this.#push({ kind: 'position', lsn }, 0);
    if (replyWanted) this.confirm(this.#confirmed);
  }

  ended(error: Error): void {
    this.#fault ??= error;
    this.#wake.end();
  }

  #push(event: Waiting, bytes: number): void {
    this.#waiting.push(event);
    this.#bytes += bytes;
    if (!this.#paused && (this.#waiting.length >= maxEvents || this.#bytes >= maxBytes)) {
      this.#paused = true;
      this.#replication.pause();
    }
    this.#wake.wake();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#heardAt = this.#clock.now();
    this.#replication.resume();
  }
}
