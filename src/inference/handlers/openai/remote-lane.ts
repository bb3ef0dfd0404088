import { setMaxListeners } from 'node:events';
import { MillraceError } from '../../../errors/millrace-error.js';
import { untilAborted } from '../../../errors/until-aborted.js';
import { Breaker } from '../../../flow/breaker.js';
import { Gate } from '../../../flow/gate.js';
import { underEither } from '../../../flow/under-either.js';
import { RateLimiter } from '../../../flow/rate-limiter.js';
import { openConnections } from './exchange.js';
import { postJson, shownAddress, type Endpoint } from './post-json.js';

export interface RemoteCall<Result> {
  /** JSON. */
  readonly body: string;
  /** Estimate; the answer's own count takes its place. */
  readonly tokens: number;
  /** @throws MillraceError `remote_unavailable` for an answer that is not of this API */
  read(reply: unknown): Result;
}

export interface RemoteLaneOptions {
  readonly endpoint: Omit<Endpoint, 'connections' | 'address'>;
  readonly address: URL;
  readonly rpm?: number | undefined;
  readonly tpm?: number | undefined;
  readonly concurrency: number;
  /** The smallest call there is: tells an outage from a call that the service cannot serve. */
  readonly probe: RemoteCall<unknown>;
}

/** All calls to one model of a remote service: bounded in number, requests and tokens a minute, and in patience. */
export interface RemoteLane {
  /**
   * Makes the call once; without a signal it is under way until it is answered or the lane closes.
   * @throws MillraceError as `postJson`; `remote_unavailable` only when the service answers no other call either, else
   * `remote_failed`; the signal's reason
   */
  call<Result>(call: RemoteCall<Result>, signal?: AbortSignal): Promise<Result>;
  /**
   * Makes the probe, to see whether calls can pass at all. An answer that lies with the probe itself is as good as any.
   * @throws MillraceError `remote_unavailable`, `remote_refused`, `rate_limited`; the signal's reason
   */
  reach(signal: AbortSignal): Promise<void>;
  /** Ends whatever is under way or waits, with `aborted`. */
  close(): void;
}

const mostProbeMs = 10_000;

export function createRemoteLane(options: RemoteLaneOptions): RemoteLane {
  const { rpm, tpm, concurrency, probe, address } = options;
  // One more for the probe.
  const connections = openConnections(address, concurrency + 1);
  const endpoint: Endpoint = { ...options.endpoint, address: shownAddress(address), connections };
  const { clock } = endpoint;
  const closing = new AbortController();
  // Every call under way listens; Node takes more than ten for a leak.
  setMaxListeners(0, closing.signal);
  const gate = new Gate(concurrency, closing.signal);
  const limiter = new RateLimiter({ requests: rpm, tokens: tpm }, clock);
  const breaker = new Breaker({ clock, probe: answers });
  /** Why the service was last asked whether it answers. */
  let outage: MillraceError | undefined;

  async function once<Result>(call: RemoteCall<Result>, to: Endpoint, signal: AbortSignal): Promise<Result> {
    const admission = await limiter.take(call.tokens, signal);
    const reply = await postJson(to, call.body, signal);
    const used = (reply as { usage?: { total_tokens?: unknown } } | null)?.usage?.total_tokens;
    if (typeof used === 'number' && used >= 0) admission.correct(used);
    return call.read(reply);
  }

  /**
   * A service that refuses the probe is there all the same. One that has had enough calls says nothing of the call that
   * failed.
   */
  async function answers(): Promise<boolean> {
    try {
      const timeoutMs = Math.min(endpoint.timeoutMs, mostProbeMs);
      await once(probe, { ...endpoint, timeoutMs }, closing.signal);
      return true;
    } catch (error) {
      closing.signal.throwIfAborted();
      const { code, retryAfterMs = 0 } = MillraceError.from(error);
      if (code === 'rate_limited') breaker.hold(retryAfterMs);
      return code !== 'remote_unavailable' && code !== 'rate_limited';
    }
  }

  async function call<Result>(call: RemoteCall<Result>, signal: AbortSignal): Promise<Result> {
    if (!(await breaker.pass(signal))) throw outage!;
    try {
      return await once(call, endpoint, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      const error = MillraceError.from(thrown);
      if (error.code === 'rate_limited') breaker.hold(error.retryAfterMs ?? 0);
      if (error.code !== 'remote_unavailable') throw error;
      outage = error;
      if (!(await breaker.answers(signal))) throw error;
      throw new MillraceError('remote_failed', `${error.message} It does answer other calls.`, {
        cause: error.cause,
        ...(error.hint !== undefined && { hint: error.hint }),
        retryAfterMs: error.retryAfterMs,
      });
    }
  }

  return {
    call: (what, signal) =>
      signal === undefined
        ? gate.run(1, () => call(what, closing.signal))
        : // Whoever leaves while it waits for its turn is not kept until that comes.
          untilAborted(
            gate.run(1, () => underEither(signal, closing.signal, (either) => call(what, either))),
            signal,
          ),
    async reach(signal) {
      try {
        await once(probe, endpoint, signal);
      } catch (error) {
        signal.throwIfAborted();
        const { code } = MillraceError.from(error);
        if (code !== 'inference_failed' && code !== 'item_too_large') throw error;
      }
    },
    close: () => {
      closing.abort(new MillraceError('aborted', 'The model is closed.'));
      connections.close();
    },
  };
}
