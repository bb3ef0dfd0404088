import type { ConnectorContext } from '../../../src/contracts/context.js';
import type { SourceContext } from '../../../src/contracts/source.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import type { CdcConfig } from './config.js';
import { Interrupted } from './interrupted.js';
import { progressOf } from './progress.js';
import type { Session } from './session.js';

export interface TendOptions {
  readonly session: Session;
  readonly config: CdcConfig;
  readonly slot: string;
  readonly connector: ConnectorContext;
  readonly lag: SourceContext['lag'];
  readonly signal: AbortSignal;
}

const tickMs = 1_000;
const lookMs = 10_000;

/**
 * While a session lasts, beside the reading: tells the server what is durable, whatever the reading or the store waits
 * for; measures how far it is behind; writes heartbeats.
 */
export async function tend(options: TendOptions): Promise<void> {
  const { session, config, connector, signal } = options;
  const { clock } = connector;
  const { stream, confirmations } = session;
  const heed = (error: unknown) => {
    if (error instanceof Interrupted || (error instanceof MillraceError && error.code === 'source_behind'))
      stream.ended(error);
    // Else the store is away, which its own calls tell of.
  };
  // From one sign of life in the store to the next.
  const beatMs = Math.min(config.takeoverMs / 4, 5_000);
  const keep = oneAtATime(heed, (due) => keepDurable(options, due));
  const look = oneAtATime(heed, () => measure(options));
  const write = oneAtATime(heed, () => heartbeat(options));
  let [askAt, beatAt, lookAt] = [clock.now(), clock.now(), clock.now()];
  let heartbeatAt = clock.now() + config.heartbeatMs;
  while (!signal.aborted) {
    try {
      await clock.sleep(Math.min(tickMs, beatMs), signal);
    } catch {
      return;
    }
    const now = clock.now();
    stream.confirm(confirmations.confirmed, now >= askAt);
    if (now >= askAt) askAt = now + config.timeoutMs / 4;
    if (stream.silentMs > config.timeoutMs) {
      stream.ended(new Interrupted(`Nothing was heard for ${config.timeoutMs} ms.`));
      // Whatever the reading waits for.
      await session.close();
      return;
    }
    if (keep(now >= beatAt) && now >= beatAt) beatAt = now + beatMs;
    if (now >= heartbeatAt && write(true)) heartbeatAt = now + config.heartbeatMs;
    if (now >= lookAt && look(true)) lookAt = now + lookMs;
  }
}

/** Begins a work unless it is still under way from before. @returns whether it was begun */
function oneAtATime(heed: (error: unknown) => void, work: (due: boolean) => Promise<void>) {
  let busy = false;
  return (due: boolean): boolean => {
    if (busy) return false;
    busy = true;
    void work(due)
      .catch(heed)
      .finally(() => (busy = false));
    return true;
  };
}

/** @param due a sign of life is due, although nothing moved */
async function keepDurable({ session }: TendOptions, due: boolean): Promise<void> {
  const { stream, confirmations, watermark, backfill } = session;
  if (!due && backfill === undefined && watermark.durable <= confirmations.confirmed) return;
  await confirmations.record(() => progressOf(session));
  stream.confirm(confirmations.confirmed);
}

async function heartbeat({ session }: TendOptions): Promise<void> {
  await session.sql.rows("select pg_logical_emit_message(true, 'millrace', '')");
}

async function measure({ session, config, slot, connector, lag }: TendOptions): Promise<void> {
  const [row] = await session.sql.rows(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::int8
     from pg_replication_slots where slot_name = $1`,
    [slot],
  );
  const bytes = Number(row?.[0] ?? 0);
  const { oldest } = session.watermark;
  const seconds = oldest === undefined ? 0 : Math.max(0, (connector.clock.now() - oldest) / 1_000);
  lag({ bytes, seconds });
  const { maxBytes, action } = config.lag;
  if (maxBytes === undefined || bytes <= maxBytes) return;
  const message = `The slot ${slot} holds back ${bytes} bytes of log; ${maxBytes} are allowed.`;
  if (action === 'warn') return connector.notify({ level: 'warn', code: 'source_behind', message });
  throw new MillraceError('source_behind', message, {
    hint:
      action === 'drop'
        ? 'The slot is dropped: the next run makes a new one and reads all rows again.'
        : 'Find out what holds the run up, or raise lag.maxBytes; the slot stays.',
  });
}
