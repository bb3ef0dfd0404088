import type { ConnectorContext } from '../../src/contracts/context.js';
import type { SourceState } from '../../src/contracts/source.js';
import { replyCode } from './client.js';
import type { Commands } from './commands.js';
import type { RedisSourceConfig } from './config.js';
import type { Entry } from './decode.js';
import { compareIds, idBefore, zeroId, type EntryId } from './entry-id.js';
import { driftNow, entriesLost } from './gap.js';
import { fresh, laterId, remember, type StreamMemory } from './memory.js';
import { streamInfo, type StreamInfo } from './stream-info.js';

export interface GroupOptions {
  readonly config: RedisSourceConfig;
  readonly group: string;
  readonly consumer: string;
  readonly state: SourceState;
  readonly notify: ConnectorContext['notify'];
}

/** The consumer group of a stream: made where it is missing, watched for what is lost, and read. */
export class Group {
  readonly #options: GroupOptions;
  #memory: StreamMemory = fresh;

  constructor(options: GroupOptions) {
    this.#options = options;
  }

  /** The epoch of the versions of what is read now. */
  get epoch(): number {
    return this.#memory.epoch;
  }

  /** Makes sure that stream and group are there, and finds out whether the stream has begun anew. */
  async open(client: Commands): Promise<void> {
    const { config, group, state, notify } = this.#options;
    const info = await this.#look(client);
    const lastId = info?.lastId ?? zeroId;
    const known = (await state.read()) as StreamMemory | undefined;
    await this.#follow(lastId);
    if (info?.group !== undefined) return;
    const start = known === undefined ? startOf(config.from) : this.#memory.resume;
    try {
      await client.call('XGROUP', 'CREATE', config.stream, group, start, 'MKSTREAM');
    } catch (error) {
      // Another process was first.
      if (replyCode(error) !== 'BUSYGROUP') throw error;
      return;
    }
    if (known !== undefined)
      notify({
        level: 'warn',
        code: 'group_made_again',
        message: `The group ${group} of ${config.stream} was gone; it goes on after ${start}.`,
      });
  }

  /**
   * Reads what is new without waiting; tells of entries that were trimmed before anybody read them.
   * @returns undefined when stream or group are gone: `open` makes them again
   */
  async read(client: Commands): Promise<Entry[] | undefined> {
    const { config, group, consumer } = this.#options;
    const [stream, groups, read] = await client.multi([
      ['XINFO', 'STREAM', config.stream],
      ['XINFO', 'GROUPS', config.stream],
      ['XREADGROUP', 'GROUP', group, consumer, 'COUNT', config.count, 'STREAMS', config.stream, '>'],
    ]);
    if (isNoSuchKey(stream) || replyCode(read) === 'NOGROUP') return undefined;
    for (const reply of [stream, groups, read]) if (reply instanceof Error) throw reply;
    const info = streamInfo(stream as unknown[], groups as unknown[], group);
    await this.#follow(info.lastId);
    await this.#tellOfLoss(info);
    return entriesOf(read);
  }

  /** Waits for what is new, at most `ms`. The connection can do nothing else meanwhile. */
  async wait(client: Commands, ms: number): Promise<Entry[]> {
    const { config, group, consumer } = this.#options;
    return entriesOf(
      await client.call(
        ...(['XREADGROUP', 'GROUP', group, consumer, 'COUNT', config.count] as const),
        ...(['BLOCK', ms, 'STREAMS', config.stream, '>'] as const),
      ),
    );
  }

  /** Keeps in the store how far the group has come. */
  async record(client: Commands): Promise<void> {
    const { config, group, state } = this.#options;
    const info = await this.#look(client);
    if (info?.group === undefined) return;
    const [, first] = (await client.call('XPENDING', config.stream, group)) as [number, EntryId | null];
    const resume = first === null ? info.group.delivered : idBefore(first);
    const drift = driftNow(info);
    const { memory } = await remember(state, (known = fresh) =>
      // Another process has seen it begin anew, or this one is about to.
      compareIds(info.lastId, known.last) < 0
        ? undefined
        : { ...known, last: info.lastId, resume, drift: drift ?? known.drift },
    );
    this.#memory = memory;
  }

  async #look(client: Commands): Promise<StreamInfo | undefined> {
    const { config, group } = this.#options;
    const [stream, groups] = await client.multi([
      ['XINFO', 'STREAM', config.stream],
      ['XINFO', 'GROUPS', config.stream],
    ]);
    if (isNoSuchKey(stream)) return undefined;
    for (const reply of [stream, groups]) if (reply instanceof Error) throw reply;
    return streamInfo(stream as unknown[], groups as unknown[], group);
  }

  /** A stream whose last id is below one seen is another one: from now on its versions are above all earlier ones. */
  async #follow(lastId: EntryId): Promise<void> {
    const { config, state, notify } = this.#options;
    if (this.#memory !== fresh && compareIds(lastId, this.#memory.last) >= 0) return;
    const { memory, changed } = await remember(state, (known) => {
      if (known === undefined) return { ...fresh, last: lastId, resume: startOf(config.from, lastId) };
      if (compareIds(lastId, known.last) >= 0) return undefined;
      return { epoch: known.epoch + 1, last: lastId, resume: zeroId, drift: 0 };
    });
    this.#memory = memory;
    if (changed && memory.epoch > 0)
      notify({
        level: 'warn',
        code: 'stream_began_anew',
        message: `${config.stream} has lower ids than it had: it is taken for a new stream (epoch ${memory.epoch}), whose entries are newer than all before.`,
      });
  }

  async #tellOfLoss(info: StreamInfo): Promise<void> {
    const { config, state, notify } = this.#options;
    const lost = entriesLost(info, this.#memory.drift);
    if (lost === 0) return;
    const before = this.#memory.drift;
    const { memory, changed } = await remember(state, (known = fresh) =>
      known.drift === before
        ? { ...known, last: laterId(known.last, info.lastId), drift: before + lost }
        : undefined,
    );
    this.#memory = memory;
    if (changed)
      notify({
        level: 'warn',
        code: 'entries_lost',
        message: `${lost} entries of ${config.stream} were trimmed before they were read: raise the MAXLEN of its writers, or read faster.`,
      });
  }
}

/** `XINFO STREAM` has this one cause for a plain `ERR`. */
function isNoSuchKey(reply: unknown): boolean {
  return replyCode(reply) === 'ERR';
}

function startOf(from: string, lastId: EntryId = '$'): EntryId {
  if (from === 'start') return zeroId;
  return from === 'now' ? lastId : from;
}

/** The entries of a reply for one stream; deleted ones have no fields. */
function entriesOf(reply: unknown): Entry[] {
  const [stream] = (reply ?? []) as [string, [EntryId, string[] | null][]][];
  const entries: Entry[] = [];
  for (const [id, fields] of stream?.[1] ?? []) if (fields !== null) entries.push({ id, fields });
  return entries;
}
