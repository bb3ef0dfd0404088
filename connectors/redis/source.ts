import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Redis } from 'ioredis';
import type { ConnectorContext } from '../../src/contracts/context.js';
import type {
  Delivery,
  ElementsDelivery,
  Source,
  SourceContext,
  SourceFactory,
} from '../../src/contracts/source.js';
import type { SourceElement } from '../../src/elements/document.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { commandsOf, type Commands } from './commands.js';
import type { RedisSourceConfig } from './config.js';
import { openConfirmer, type Confirmer } from './confirm.js';
import { describeStream } from './describe-stream.js';
import { decodeEntry, failUnread, type Entry } from './decode.js';
import type { EntryId } from './entry-id.js';
import { EntryVersions } from './entry-versions.js';
import { Group } from './group.js';
import { Held } from './held.js';
import { keepAlive } from './keep-alive.js';
import { measureLag } from './lag.js';
import { Outage } from './outage.js';
import { ReadingConnection } from './reading-connection.js';
import { readHistory } from './read-history.js';
import { mayPass, refused } from './refusal.js';
import { claim, takeOver, type TakeoverOptions } from './takeover.js';

/** Longest wait for new entries in one call, and so longest time from one look at what others left to the next. */
const waitMs = 5_000;
const recordEveryMs = 5_000;
/** After a lost connection, before the next try. */
const againMs = 200;

/** Documents from a Redis stream. @throws MillraceError `source_unavailable` when Redis cannot be reached */
export const openRedisSource: SourceFactory<RedisSourceConfig> = async (given, context) => {
  const config = {
    ...given,
    ...(given.ca !== undefined && { ca: resolve(context.baseFolder, given.ca) }),
  };
  const name = config.name ?? `redis:${config.stream}`;
  await describeStream(config);
  return {
    name,
    endless: true,
    probe: async () => describeStream(config),
    history: (source) => readHistory(config, source),
    deliveries: (source) => new Reading(config, context, source).deliveries(),
  } satisfies Source;
};

/** Entries that are handed over and confirmed together. */
interface Round {
  readonly entries: readonly Entry[];
  readonly ids: readonly EntryId[];
}

/** One reading of the stream, from the first delivery to the end. */
class Reading {
  readonly #config: RedisSourceConfig;
  readonly #connector: ConnectorContext;
  readonly #context: SourceContext;
  readonly #held = new Held();
  readonly #names: { readonly group: string; readonly consumer: string };
  readonly #group: Group;
  readonly #outage: Outage;
  #reader: ReadingConnection | undefined;
  #confirm: (ids: readonly EntryId[]) => Promise<void> = () => Promise.resolve();

  constructor(config: RedisSourceConfig, connector: ConnectorContext, context: SourceContext) {
    this.#config = config;
    this.#connector = connector;
    this.#context = context;
    this.#names = {
      group: config.group ?? `millrace-${connector.pipeline}`,
      // A name of its own for each process: what a dead one held is taken over by its idle time.
      consumer: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    };
    this.#group = new Group({ config, ...this.#names, state: context.state, notify: connector.notify });
    this.#outage = new Outage(config.stream, connector.notify, context.lag);
  }

  /** A wait ends well before the connection counts as lost. */
  get #waitMs(): number {
    const { claimIdleMs, timeoutMs } = this.#config;
    return Math.floor(Math.min(waitMs, claimIdleMs / 2, timeoutMs / 2));
  }

  async *deliveries(): AsyncGenerator<Delivery> {
    const { signal } = this.#context;
    if (signal.aborted) return;
    const { group, consumer } = this.#names;
    // Nobody may be reading when a confirmation does not come through: a run takes nothing more until it has.
    const confirmer = await openConfirmer(this.#config, group, `millrace ${consumer}`, () =>
      this.#outage.begin(),
    );
    this.#confirm = async (ids) => {
      await confirmer.confirm(ids);
      this.#held.remove(ids);
    };
    const released = new AbortController();
    const background = this.#tend(confirmer.client, released.signal);
    const close = () => this.#reader?.close();
    signal.addEventListener('abort', close, { once: true });
    try {
      yield* this.#readAll(confirmer);
    } finally {
      signal.removeEventListener('abort', close);
      close();
      released.abort();
      confirmer.release();
      await background;
    }
  }

  async *#readAll(confirmer: Confirmer): AsyncGenerator<Delivery> {
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
          yield* this.#takeOver(reader);
        }
        const wasAhead = ahead !== undefined;
        round = await (ahead ?? this.#read(reader));
        ahead = undefined;
        // What was true then need not be true any more: it is looked at anew.
        if (wasAhead && round?.ids.length === 0) continue;
        // One that was read ahead may have come before the connection was lost.
        if (!wasAhead && !confirmer.lost) this.#outage.end();
        opened = round !== undefined;
        if (round === undefined) continue;
        if (round.ids.length === 0 && !watch) {
          if ((await this.#heldByOthers(confirmer.client)) === 0) return;
          await this.#connector.clock.sleep(againMs, signal);
        } else if (round.ids.length === 0) {
          if (!caughtUp) yield { kind: 'caught-up' };
          caughtUp = true;
          round = this.#hold(await this.#group.wait(reader, this.#waitMs));
        } else caughtUp = false;
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof MillraceError) throw error;
        if (!mayPass(error)) throw refused(this.#config, error);
        opened = false;
        ahead = undefined;
        this.#outage.begin(error);
        await this.#connector.clock.sleep(againMs, signal).catch(() => undefined);
        continue;
      }
      // While these are worked on the next ones come, where there are more: Redis and this process work side by side.
      const more = round.ids.length === this.#config.count && !this.#outage.goesOn;
      if (more && this.#connector.clock.now() < lookAt) {
        ahead = this.#read(reader);
        // An outage shows when it is its turn.
        ahead.catch(() => undefined);
      }
      if (round.ids.length > 0) yield this.#deliver(round);
    }
  }

  /** The connection for reading, made again where it was lost. */
  async #connected(): Promise<ReadingConnection> {
    if (this.#reader?.isLost === false) return this.#reader;
    const { signal } = this.#context;
    try {
      this.#reader = await ReadingConnection.open(
        this.#config,
        `millrace ${this.#names.consumer} reader`,
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
  async #read(reader: Commands): Promise<Round | undefined> {
    const entries = await this.#group.read(reader);
    return entries && this.#hold(entries);
  }

  #hold(entries: readonly Entry[]): Round {
    const ids = entries.map(({ id }) => id);
    this.#held.add(ids);
    return { entries, ids };
  }

  /** Hands over what others left behind. */
  async *#takeOver(reader: Commands): AsyncGenerator<Delivery> {
    const { signal } = this.#context;
    const options: TakeoverOptions = {
      config: this.#config,
      ...this.#names,
      held: this.#held,
      notify: this.#connector.notify,
    };
    const { entries, suspects, hopeless } = await takeOver(reader, options);
    const [untried, lost] = [this.#hold(entries), this.#hold(hopeless)];
    if (entries.length > 0) yield this.#deliver(untried);
    if (hopeless.length > 0)
      yield this.#deliver(lost, (element) =>
        failUnread(
          element,
          new MillraceError(
            'item_hopeless',
            `Its entry was delivered more than ${this.#config.maxDeliveries + 1} times and never confirmed: each time the process ended or got stuck, the last time with nothing else under way.`,
            { hint: 'Look at what ends the process (memory, a crash of the model), then replay it.' },
          ),
        ),
      );
    for (const id of suspects) {
      // Nothing else is under way while it is tried, so that nothing else can be blamed or harmed.
      await this.#held.empty(signal);
      if (signal.aborted) return;
      const alone = await claim(reader, [id], options);
      if (alone.length === 0) continue;
      yield this.#deliver(this.#hold(alone));
      await this.#held.empty(signal);
    }
  }

  #deliver(
    { entries, ids }: Round,
    change: (element: SourceElement) => SourceElement = (element) => element,
  ): ElementsDelivery {
    const { maxItemBytes } = this.#context;
    const versions = new EntryVersions(this.#group.epoch);
    const options = { fields: this.#config.fields, versions, maxItemBytes };
    return {
      kind: 'elements',
      elements: entries.map((entry) => change(decodeEntry(entry, options))),
      settle: () => this.#confirm(ids),
    };
  }

  /** Entries that other consumers have taken and not confirmed. */
  async #heldByOthers(client: Redis): Promise<number> {
    const [, , , consumers] = (await client.xpending(this.#config.stream, this.#names.group)) as [
      number,
      string | null,
      string | null,
      [string, string][] | null,
    ];
    return (consumers ?? []).reduce(
      (sum, [consumer, count]) => sum + (consumer === this.#names.consumer ? 0 : Number(count)),
      0,
    );
  }

  /** Keeps what is held from being taken over, and the store informed of how far the group has come. */
  async #tend(client: Redis, signal: AbortSignal): Promise<void> {
    const { clock } = this.#connector;
    const { claimIdleMs } = this.#config;
    let recordAt = clock.now() + recordEveryMs;
    let recording: Promise<void> | undefined;
    while (!signal.aborted) {
      try {
        await clock.sleep(Math.min(claimIdleMs / 3, recordEveryMs), signal);
        await keepAlive(client, { config: this.#config, ...this.#names, held: this.#held });
        if (clock.now() < recordAt) continue;
        recordAt = clock.now() + recordEveryMs;
        // A store that is away must not keep this from tending.
        recording ??= this.#group
          .record(commandsOf(client))
          .catch(() => undefined)
          .finally(() => (recording = undefined));
        if (!this.#outage.goesOn)
          this.#context.lag(await measureLag(client, this.#config.stream, this.#names.group, clock.now()));
      } catch {
        // A lost connection or group: the reading tells of it, and mends it.
      }
    }
    await recording;
  }
}
