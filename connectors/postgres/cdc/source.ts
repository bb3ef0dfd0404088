import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { ConnectorContext } from '../../../src/contracts/context.js';
import type {
  Cleared,
  Delivery,
  ElementsDelivery,
  Source,
  SourceContext,
  SourceFactory,
} from '../../../src/contracts/source.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { versionOf, type Version } from '../../../src/elements/version.js';
import type { Assembled } from './assembly.js';
import type { Slice } from './backfill.js';
import { auditRows } from './audit-rows.js';
import { ownName, type CdcConfig } from './config.js';
import type { Progress } from './confirmations.js';
import { describeSource } from './describe-source.js';
import { endOfFlushedLog } from './end-of-log.js';
import type { Lsn } from './lsn.js';
import { parseSnapshot } from './snapshot.js';
import { rowElement } from './row-element.js';
import { openSession, type Session, type SessionOptions } from './session.js';
import { mayPass, sourceError } from './source-error.js';
import { dropSlotOnceFree } from './drop-slot.js';
import { tend } from './tend.js';
import { databaseOf, whereOf } from './where.js';

/** After a lost connection, before the next try; the last one repeats. */
const againMs = [200, 500, 1_000, 2_000, 5_000];
/** One that lasted so long was well. */
const steadyMs = 10_000;
const idleMs = 1_000;
const pollMs = 100;
/** An empty stream for so long may be all that there is: then the server is asked. */
const lullMs = 20;
const endMs = 1_000;
/** Since when somebody may want to know that the reading of rows waits for other transactions. */
const patienceMs = 10_000;

/** Documents from rows of Postgres tables. @throws MillraceError `source_unavailable` when the server cannot be reached */
export const openPostgresSource: SourceFactory<CdcConfig> = async (config, context) => {
  const own = ownName(context.pipeline);
  const names = {
    slot: config.slot ?? own,
    publication: config.publication ?? own,
    application: `millrace ${context.pipeline}`.slice(0, 63),
  };
  const name = config.name ?? `postgres:${config.table ?? databaseOf(config.url)}`;
  await describeSource(config, names, context.clock);
  return {
    name,
    endless: true,
    rereads: true,
    probe: async () => describeSource(config, names, context.clock),
    audit: (audit) => auditRows({ config, application: names.application, clock: context.clock }, audit),
    deliveries: (source) => new Reading({ config, names, connector: context, context: source }).deliveries(),
  } satisfies Source;
};

/** One reading of the source, from the first delivery to the end, over as many sessions as it takes. */
class Reading {
  readonly #options: SessionOptions;
  readonly #context: SourceContext;
  readonly #connector: ConnectorContext;
  #session: Session | undefined;
  /** What is settled from now on nobody keeps but its own settlement. */
  #ending = false;
  #interrupted = false;
  #caughtUp = false;
  /** When all rows are read anew. */
  #rereadAt: number;

  constructor(options: Omit<SessionOptions, 'holder'>) {
    this.#context = options.context;
    this.#connector = options.connector;
    this.#rereadAt = options.connector.clock.now() + (options.context.rereadEveryMs ?? Infinity);
    this.#options = { ...options, holder: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}` };
  }

  async *deliveries(): AsyncGenerator<Delivery> {
    const { signal } = this.#context;
    for (let tries = 0; !signal.aborted; tries += 1) {
      let session: Session | undefined;
      const released = new AbortController();
      let background: Promise<void> | undefined;
      const began = this.#connector.clock.now();
      try {
        session = await openSession(this.#options);
        this.#session = session;
        this.#ending = false;
        this.#resumed();
        background = this.#tend(session, released.signal);
        yield* this.#read(session);
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!mayPass(error)) {
          await this.#giveUp(error, session);
          throw sourceError(error, whereOf(this.#options.config.url));
        }
        if (this.#connector.clock.now() - began > steadyMs) tries = 0;
        await this.#recover(error, againMs[Math.min(tries, againMs.length - 1)]!);
      } finally {
        released.abort();
        if (session !== undefined) await this.#end(session);
        await background;
      }
    }
  }

  async *#read(session: Session): AsyncGenerator<Delivery> {
    const { signal, watch } = this.#context;
    const { assembly, stream } = session;
    let visible = this.#visibility(session);
    let target: Lsn | undefined;
    let emptySince: number | undefined;
    let reading = session.backfill !== undefined;
    while (!signal.aborted) {
      const assembled = await assembly.next();
      if (assembled !== undefined) {
        this.#caughtUp = false;
        target = undefined;
        emptySince = undefined;
        yield* this.#handOver(session, assembled);
        if (signal.aborted) return;
      }
      if (reading && (await visible())) {
        const slice = await this.#slice(session);
        reading = slice !== undefined;
        yield slice ?? this.#swept(session);
        continue;
      }
      if (assembled !== undefined) continue;
      if (session.backfill === undefined && this.#connector.clock.now() >= this.#rereadAt) {
        await session.reread();
        visible = this.#visibility(session);
        reading = true;
        continue;
      }
      if (!reading && !this.#caughtUp) {
        const now = this.#connector.clock.now();
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

  *#handOver(session: Session, assembled: Assembled): Generator<Delivery> {
    const { watermark } = session;
    if (assembled.kind === 'elements') {
      const { elements, committedAt, passed } = assembled;
      if (passed !== undefined) session.position = passed;
      const stretch = watermark.add(committedAt, passed);
      yield {
        kind: 'elements',
        elements,
        settle: () => this.#settled(session, () => watermark.settle(stretch)),
      } satisfies ElementsDelivery;
      return;
    }
    const stretch = watermark.add(assembled.committedAt, undefined);
    const { plans, since } = assembled;
    for (const [at, { table }] of plans.entries())
      yield cleared(table.mapping.prefix, since, true, async () => {
        if (at === plans.length - 1) await this.#settled(session, () => watermark.settle(stretch));
      });
  }

  /** The next rows that were there before; undefined once all were read. */
  async #slice(session: Session): Promise<ElementsDelivery | undefined> {
    const { reading, point } = session.backfill!;
    const { maxItemBytes } = this.#context;
    const rows = this.#options.config.batch;
    const slice: Slice | undefined = await reading.next(session.sql, { rows, maxItemBytes });
    if (slice === undefined) return undefined;
    const part = reading.handOver(slice);
    const version = versionOf(session.epoch, point);
    return {
      kind: 'elements',
      elements: slice.rows.map((row) => rowElement(slice.plan, row, version, maxItemBytes)),
      ...(reading.share !== undefined && { progress: reading.share }),
      settle: () => this.#settled(session, () => reading.settle(part)),
    };
  }

  /** All rows were read: what this source had before and nobody named is gone. */
  #swept(session: Session): Cleared {
    const { point } = session.backfill!;
    return cleared('', versionOf(session.epoch, point), false, () =>
      this.#settled(session, () => {
        session.backfill = undefined;
        this.#rereadAt = this.#connector.clock.now() + (this.#context.rereadEveryMs ?? Infinity);
      }),
    );
  }

  /** A settlement at or after the end of its session is kept at once. What is not kept comes again. */
  async #settled(session: Session, settle: () => void): Promise<void> {
    settle();
    if (session === this.#session && (this.#ending || session.closed))
      await this.#record(session).catch(() => undefined);
  }

  async #record(session: Session): Promise<void> {
    await session.confirmations.record(() => progressOf(session));
  }

  /** Keeps what is durable so far, for as long as that may take, and lets go of the connections. */
  async #end(session: Session): Promise<void> {
    const { clock } = this.#connector;
    const late = new AbortController();
    this.#ending = true;
    const kept = this.#record(session).then(
      () => session.stream.confirm(session.confirmations.confirmed),
      () => undefined,
    );
    await Promise.race([kept, clock.sleep(endMs, late.signal).catch(() => undefined)]);
    late.abort();
    await session.close();
  }

  async #giveUp(error: unknown, session: Session | undefined): Promise<void> {
    const { config, names, connector, context } = this.#options;
    if (!(error instanceof MillraceError) || error.code !== 'source_behind') return;
    if (config.lag.action !== 'drop') return;
    await session?.close();
    await dropSlotOnceFree(config, names, connector.clock, context.signal);
  }

  /**
   * Whether queries see all that was committed before the point: a transaction is in the log a little before it is
   * visible, and with synchronous replication long before.
   */
  #visibility({ sql, backfill }: Session): () => Promise<boolean> {
    const { clock, notify } = this.#connector;
    let [seen, told] = [backfill?.reading.begun ?? true, false];
    let horizon: bigint | undefined;
    const began = clock.now();
    return async () => {
      if (seen) return true;
      // A transaction of our own: every one that has written to the log by now is older.
      horizon ??= BigInt((await sql.rows('select pg_current_xact_id()'))[0]![0]!);
      const [row] = await sql.rows('select pg_current_snapshot()');
      seen = parseSnapshot(row![0]!).xmin > horizon;
      if (!seen && !told && clock.now() - began > patienceMs) {
        told = true;
        notify({
          level: 'info',
          code: 'source_waiting',
          message: 'The reading of all rows waits for transactions that were open when it began.',
        });
      }
      return seen;
    };
  }

  async #tend(session: Session, signal: AbortSignal): Promise<void> {
    const { config, names } = this.#options;
    await tend({
      session,
      config,
      slot: names.slot,
      connector: this.#connector,
      lag: this.#context.lag,
      signal,
      progress: () => progressOf(session),
    });
  }

  /** Tells of an outage once, however often it is tried again. */
  async #recover(error: unknown, ms: number): Promise<void> {
    const { clock, notify } = this.#connector;
    if (!this.#interrupted) {
      this.#interrupted = true;
      const stalled = `Reading Postgres was interrupted (${error instanceof Error ? error.message : String(error)}); trying again.`;
      notify({ level: 'warn', code: 'source_interrupted', message: stalled });
      this.#context.lag({ stalled });
    }
    await clock.sleep(ms, this.#context.signal).catch(() => undefined);
  }

  #resumed(): void {
    if (!this.#interrupted) return;
    this.#interrupted = false;
    this.#connector.notify({ level: 'info', code: 'source_resumed', message: 'Reading Postgres goes on.' });
    this.#context.lag({});
  }
}

function progressOf({ watermark, backfill }: Session): Progress {
  return { durable: watermark.durable, backfill: backfill?.reading.memory ?? null };
}

function cleared(prefix: string, since: Version, commanded: boolean, settle: () => Promise<void>): Cleared {
  return { kind: 'cleared', scope: { prefix, except: [], since }, commanded, settle };
}
