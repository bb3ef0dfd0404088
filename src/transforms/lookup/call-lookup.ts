import type { Clock } from '../../contracts/context.js';
import type { Lookup, LookupRow } from '../../contracts/lookup.js';
import type { ErrorCode } from '../../errors/codes.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { Breaker } from '../../flow/breaker.js';
import { RateLimiter } from '../../flow/rate-limiter.js';
import { within } from '../../flow/within.js';

export interface CallOptions {
  readonly lookup: Lookup;
  /** Name of the step, for messages. */
  readonly name: string;
  /** Longest time of one call, in ms. */
  readonly timeoutMs: number;
  /** Calls in any second; undefined: no limit. */
  readonly rps?: number | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export type Answers = readonly (LookupRow | undefined | Error)[];

/**
 * One call of a look-up: within its rate and its time. A call that failed or took too long is judged by a probe that all
 * failing calls share: when that gets no answer either it is an outage, else the fault is the call's.
 * @throws MillraceError as `find`; `remote_unavailable` for an outage only
 */
export function createCall(options: CallOptions): (keys: readonly string[]) => Promise<Answers> {
  const { lookup, name, timeoutMs, rps, clock, signal } = options;
  const limiter = new RateLimiter({ requests: rps, windowMs: 1_000 }, clock);
  const breaker = new Breaker({ clock, probe });
  let outage: MillraceError | undefined;

  const inTime = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    within(
      {
        ms: timeoutMs,
        clock,
        signal,
        late: () =>
          new MillraceError('remote_failed', `The look-up "${name}" did not answer within ${timeoutMs} ms.`, {
            hint: 'Raise `timeout`, ask for fewer keys at once (`batchSize`), or make the service faster.',
          }),
      },
      work,
    );

  /** One that refuses is there all the same. */
  async function probe(): Promise<boolean> {
    try {
      await inTime((cut) => lookup.probe(cut));
      return true;
    } catch (error) {
      signal.throwIfAborted();
      const { code } = MillraceError.from(error);
      return code !== 'remote_unavailable' && code !== 'remote_failed';
    }
  }

  return async (keys) => {
    if (!(await breaker.pass(signal))) throw outage!;
    await limiter.take(0, signal);
    try {
      const rows = await inTime((cut) => lookup.find(keys, cut));
      if (rows.length === keys.length) return rows;
      throw new MillraceError('internal', `${keys.length} keys gave ${rows.length} rows in "${name}".`);
    } catch (thrown) {
      signal.throwIfAborted();
      const error = MillraceError.from(thrown);
      if (error.code === 'rate_limited') breaker.hold(error.retryAfterMs ?? 0);
      if (error.code !== 'remote_failed' && error.code !== 'remote_unavailable') throw error;
      outage = as('remote_unavailable', error.message, error);
      if (!(await breaker.answers(signal))) throw outage;
      throw as('remote_failed', `${error.message} It does answer other calls.`, error);
    }
  };
}

function as(code: ErrorCode, message: string, { cause, hint, retryAfterMs }: MillraceError): MillraceError {
  return new MillraceError(code, message, { cause, retryAfterMs, ...(hint !== undefined && { hint }) });
}
