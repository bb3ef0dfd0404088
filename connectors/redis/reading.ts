import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ConnectorContext } from '../../src/contracts/context.js';
import type { Delivery, SourceContext } from '../../src/contracts/source.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Commands } from './commands.js';
import type { RedisSourceConfig } from './config.js';
import { openConfirmer, type Confirmer } from './confirm.js';
import { deliverLeft } from './deliver-left.js';
import { Group } from './group.js';
import { heldByOthers } from './held-by-others.js';
import { Held } from './held.js';
import { Outage } from './outage.js';
import { ReadingConnection } from './reading-connection.js';
import { mayPass, refused } from './refusal.js';
import { Rounds, type Round } from './rounds.js';
import type { TakeoverOptions } from './takeover.js';
import { tend } from './tend.js';

/** Longest wait for new entries in one call, and so longest time from one look at what others left to the next. */
const waitMs = 5_000;
/** After a lost connection, before the next try. */
const againMs = 200;

/** One reading of the stream, from the first delivery to the end. */
export class Reading {
  readonly #config: RedisSourceConfig;
  readonly #connector: ConnectorContext;
  readonly #context: SourceContext;
  /** How this consumer asks for its share of the stream. */
  readonly #options: TakeoverOptions;
  readonly #group: Group;
  readonly #outage: Outage;
  #reader: ReadingConnection | undefined;

  constructor(config: RedisSourceConfig, connector: ConnectorContext, context: SourceContext) {
    this.#config = config;
    this.#connector = connector;
    this.#context = context;
    this.#options = {
      config,
      group: config.group ?? `millrace-${connector.pipeline}`,
      // A name of its own for each process: what a dead one held is taken over by its idle time.
      consumer: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
      held: new Held(),
      notify: connector.notify,
    };
    this.#group = new Group({ ...this.#options, state: context.state });
    this.#outage = new Outage(config.stream, connector.notify, context.lag);
  }

  /** A wait ends well before the connection counts as lost. */
  get #waitMs(): number {
    const { claimIdleMs, timeoutMs } = this.#config;
    return Math.floor(Math.min(waitMs, claimIdleMs / 2, timeoutMs / 2));
  }

  async *deliveries(): AsyncGenerator<Delivery> {
    const { signal, lag, maxItemBytes } = this.#context;
    if (signal.aborted) return;
    const { config, group: name, consumer, held } = this.#options;
    const [group, outage] = [this.#group, this.#outage];
    // Nobody may be reading when a confirmation does not come through: a run takes nothing more until it has.
    const confirmer = await openConfirmer({
      config,
      group: name,
      name: `millrace ${consumer}`,
      clock: this.#connector.clock,
      signal,
      losing: () => outage.begin(),
    }).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    if (confirmer === undefined) return;
    const { client } = confirmer;
    const rounds = new Rounds({ fields: config.fields, maxItemBytes, group, held, confirmer });
    const released = new AbortController();
    const background = tend({
      client,
      group,
      keep: this.#options,
      outage,
      clock: this.#connector.clock,
      lag,
      signal: released.signal,
    });
    const close = () => this.#reader?.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      yield* this.#readAll(confirmer, rounds);
    } finally {
      signal.removeEventListener('abort', close);
      close();
      released.abort();
      confirmer.release();
      await background;
    }
  }

  async *#readAll(confirmer: Confirmer, rounds: Rounds): AsyncGenerator<Delivery> {
    const { signal, watch } = this.#context;
    let opened = false;
    let caughtUp = false;
    let lookAt = 0;
    let ahead: Promise<Round | undefined> | undefined;
    while (!signal.aborted) {
      let round: Round | undefined;
      let reader: ReadingConnection;
      try {
        // What was read ahead is handed over, whatever became of the connection since.
        reader = ahead === undefined ? await this.#connected() : this.#reader!;
        if (!opened) await this.#group.open(reader);
        opened = true;
        if (ahead === undefined && this.#connector.clock.now() >= lookAt) {
          lookAt = this.#connector.clock.now() + this.#waitMs;
          yield* deliverLeft(reader, rounds, this.#options, signal);
        }
        const wasAhead = ahead !== undefined;
        round = await (ahead ?? this.#read(reader, rounds));
        ahead = undefined;
        // What was true then need not be true any more: it is looked at anew.
        if (wasAhead && round?.ids.length === 0) continue;
        // One that was read ahead may have come before the connection was lost.
        if (!wasAhead && !confirmer.lost) this.#outage.end();
        opened = round !== undefined;
        if (round === undefined) continue;
        if (round.ids.length === 0 && !watch) {
          if ((await heldByOthers(confirmer.client, this.#options)) === 0) return;
          await this.#connector.clock.sleep(againMs, signal);
        } else if (round.ids.length === 0) {
          if (!caughtUp) yield { kind: 'caught-up' };
          caughtUp = true;
          round = rounds.hold(await this.#group.wait(reader, this.#waitMs));
        } else caughtUp = false;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof MillraceError) throw error;
        if (!mayPass(error)) throw refused(this.#config, error);
        opened = false;
        ahead = undefined;
        // Another server may be at the address by now.
        this.#reader?.close();
        this.#outage.begin(error);
        await this.#connector.clock.sleep(againMs, signal).catch(() => undefined);
        continue;
      }
      // While these are worked on the next ones come, where there are more: Redis and this process work side by side.
      const more = round.ids.length === this.#config.count && !this.#outage.goesOn;
      if (more && this.#connector.clock.now() < lookAt) {
        ahead = this.#read(reader, rounds);
        // An outage shows when it is its turn.
        ahead.catch(() => undefined);
      }
      if (round.ids.length > 0) yield rounds.deliver(round);
    }
  }

  /** The connection for reading, made again where it was lost. */
  async #connected(): Promise<ReadingConnection> {
    if (this.#reader?.isLost === false) return this.#reader;
    const { signal } = this.#context;
    try {
      this.#reader = await ReadingConnection.open(
        this.#config,
        `millrace ${this.#options.consumer} reader`,
        signal,
      );
    } catch (error) {
      // What could be reached once is waited for.
      throw this.#reader === undefined ? error : new Error('There is no connection.', { cause: error });
    }
    if (signal.aborted) this.#reader.close();
    return this.#reader;
  }

  /** What is new, held from now on. */
  async #read(reader: Commands, rounds: Rounds): Promise<Round | undefined> {
    const entries = await this.#group.read(reader);
    return entries && rounds.hold(entries);
  }
}
