import type { ConnectorContext } from '../../src/contracts/context.js';
import type { Lookup, LookupFactory, LookupRow } from '../../src/contracts/lookup.js';
import { parseExactJson } from '../../src/elements/exact-json.js';
import type { Json } from '../../src/elements/metadata.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { createAddressGuard } from './address-guard.js';
import type { HttpLookupConfig } from './config.js';
import { openExchange, shown, type Answer } from './exchange.js';
import { readRow, readRows } from './read-rows.js';
import { requestOf } from './request-of.js';

/** Asked for where no key has been answered yet. */
const probeKey = 'millrace-probe';
const mostHeldMs = 300_000;

/** Rows by key from an HTTP endpoint that answers with JSON. */
export const openHttpLookup: LookupFactory<HttpLookupConfig> = async (config, context) => {
  const exchange = openExchange({ ...config, guard: createAddressGuard(config.allowPrivate) });
  const many = `${config.url} ${config.body ?? ''}`.includes('{keys}');
  let answered = probeKey;

  async function ask(
    keys: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly (LookupRow | undefined)[]> {
    const call = requestOf(config, keys);
    const answer = await exchange.send(call, signal);
    const where = shown(call.url);
    if (!many && [204, 404, 410].includes(answer.status)) return [undefined];
    if (answer.status < 200 || answer.status > 299) throw refusal(where, answer, context);
    const json = parse(answer.text, where);
    return many ? readRows(json, keys, config) : [readRow(json, config)];
  }

  return {
    maxKeys: many ? config.maxKeys : 1,
    async find(keys, signal) {
      const rows = await ask(keys, signal);
      answered = keys[0]!;
      return rows;
    },
    /** Asks for what was answered before: when that fails too, the fault is not in the keys. */
    async probe(signal) {
      try {
        await ask([answered], signal);
      } catch (error) {
        signal.throwIfAborted();
        const { code, message } = MillraceError.from(error);
        if (code === 'remote_failed')
          throw new MillraceError('remote_unavailable', message, { cause: error });
        throw error;
      }
    },
    close: async () => exchange.close(),
  } satisfies Lookup;
};

/** By the status alone: what a service says of itself is for people. */
function refusal(where: string, { status, retryAfter }: Answer, { clock }: ConnectorContext): MillraceError {
  const message = `${where} answered with status ${status}.`;
  if (status === 401)
    return new MillraceError('remote_refused', message, {
      hint: 'Check `http.headers`: the service refuses this key or token.',
    });
  if (status === 429)
    return new MillraceError('rate_limited', message, {
      hint: 'Set `rps` to what the service allows.',
      retryAfterMs: heldMs(retryAfter, clock.now()),
    });
  // 403 may be of this key alone: the probe tells.
  if (status === 403 || status === 408 || status >= 500)
    return new MillraceError('remote_failed', message, {
      retryAfterMs: heldMs(retryAfter, clock.now()),
      ...(status === 403 && { hint: 'Check `http.headers`: the service refuses this key or token.' }),
    });
  return new MillraceError('transform_failed', message, { hint: 'Check `http.url` and the key.' });
}

/** Of a Retry-After: seconds or a date (RFC 9110, 10.2.3); five minutes at most. */
function heldMs(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), mostHeldMs);
}

function parse(text: string, where: string): Json {
  try {
    return parseExactJson(text);
  } catch (cause) {
    throw new MillraceError('remote_failed', `${where} answered with what is no JSON.`, { cause });
  }
}
