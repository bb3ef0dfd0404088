import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Delivery } from '../../../src/contracts/source.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { dropSlotOnceFree } from './drop-slot.js';
import { Outage } from './outage.js';
import { SessionReader } from './session-reader.js';
import { openSession, type Session, type SessionOptions } from './session.js';
import { Settlements } from './settlements.js';
import { mayPass, sourceError } from './source-error.js';
import { tend } from './tend.js';
import { whereOf } from './where.js';

/** After a lost connection, before the next try; the last one repeats. */
const againMs = [200, 500, 1_000, 2_000, 5_000];
/** One that lasted so long was well. */
const steadyMs = 10_000;

/** One reading of the source, from the first delivery to the end, over as many sessions as it takes. */
export async function* readSessions(given: Omit<SessionOptions, 'holder'>): AsyncGenerator<Delivery> {
  const { config, names, connector, context } = given;
  const { clock } = connector;
  const { signal, lag } = context;
  const options = { ...given, holder: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}` };
  const outage = new Outage(connector.notify, lag);
  const settlements = new Settlements(clock);
  const reader = new SessionReader(options, settlements);
  for (let tries = 0; !signal.aborted; tries += 1) {
    let session: Session | undefined;
    const released = new AbortController();
    let background: Promise<void> | undefined;
    const began = clock.now();
    try {
      session = await openSession(options);
      settlements.begin(session);
      outage.end();
      background = tend({ session, config, slot: names.slot, connector, lag, signal: released.signal });
      yield* reader.deliveries(session);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (!mayPass(error)) {
        await giveUp(error, session, options);
        throw sourceError(error, whereOf(config.url));
      }
      if (clock.now() - began > steadyMs) tries = 0;
      outage.begin(error);
      await clock.sleep(againMs[Math.min(tries, againMs.length - 1)]!, signal).catch(() => undefined);
    } finally {
      released.abort();
      if (session !== undefined) {
        await settlements.end(session);
        await session.close();
      }
      await background;
    }
  }
}

/** What was not kept up with is dropped, where that is asked for. */
async function giveUp(
  error: unknown,
  session: Session | undefined,
  { config, names, connector, context }: SessionOptions,
): Promise<void> {
  if (!(error instanceof MillraceError) || error.code !== 'source_behind') return;
  if (config.lag.action !== 'drop') return;
  await session?.close();
  await dropSlotOnceFree(config, names, connector.clock, context.signal);
}
