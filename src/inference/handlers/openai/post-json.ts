import type { Clock } from '../../../contracts/context.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import type { Connections } from './exchange.js';
import { readText } from './read-text.js';
import { refusal } from './refusal.js';
import { retryAfterMs } from './retry-after.js';

/** Where calls go, and what every one carries. */
export interface Endpoint {
  /** For messages: without its query. */
  readonly address: string;
  readonly apiKey?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly connections: Connections;
  readonly clock: Clock;
}

/** Reason for which nobody waits any more. */
const ended = 'ended';
const mostErrorBytes = 8 * 1024;
const mostReplyBytes = 256 * 1024 * 1024;

/**
 * One POST. It is cut off, its connection closed, when it takes longer than the endpoint's time or the signal aborts.
 * @param body JSON
 * @returns the answer's JSON
 * @throws MillraceError `remote_unavailable` (no answer, a broken one, or a passing error), `remote_refused`,
 * `rate_limited`, `item_too_large`, `inference_failed` (another 4xx); the signal's reason
 */
export async function postJson(endpoint: Endpoint, body: string, signal: AbortSignal): Promise<unknown> {
  const { address, apiKey, headers, timeoutMs, connections, clock } = endpoint;
  signal.throwIfAborted();
  const exchange = connections.post(
    {
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...headers,
    },
    body,
  );
  const timer = new AbortController();
  let late = false;
  let whole = false;
  signal.addEventListener('abort', exchange.cut, { once: true });
  clock.sleep(timeoutMs, timer.signal).then(
    () => {
      late = true;
      exchange.cut();
    },
    () => undefined,
  );
  try {
    const response = await exchange.answer;
    const status = response.statusCode!;
    if (status < 200 || status > 299)
      throw refusal({
        address,
        status,
        retryAfterMs: retryAfterMs(response.headers['retry-after'], clock.now()),
        body: withoutSecrets((await readText(response, mostErrorBytes, true)) ?? '', endpoint),
      });
    const text = await readText(response, mostReplyBytes, false);
    whole = text !== undefined;
    if (text === undefined) throw unusable(address, `an answer of over ${mostReplyBytes} bytes`);
    return parse(text, address);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof MillraceError) throw cause;
    if (late)
      throw new MillraceError('remote_unavailable', `${address} did not answer within ${timeoutMs} ms.`);
    throw new MillraceError(
      'remote_unavailable',
      `${address} could not be reached, or the connection broke.`,
      {
        cause,
        hint: 'Is the server running there, and is `url` right?',
      },
    );
  } finally {
    signal.removeEventListener('abort', exchange.cut);
    timer.abort(ended);
    if (!whole) exchange.cut();
  }
}

/**
 * Where calls go.
 * @param url address of the API; its query (`?api-version=…`) goes with every call
 * @param path below it
 */
export function addressOf(url: string, path: string): URL {
  const address = new URL(url);
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/${path}`;
  return address;
}

/** An address as messages have it: a query may hold secrets. */
export function shownAddress({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

function parse(text: string, address: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unusable(address, 'what is no JSON');
  }
}

/** An answer that is not of this API at all: something else, a proxy perhaps, stands at this address for now. */
export function unusable(address: string, what: string): MillraceError {
  return new MillraceError('remote_unavailable', `${address} answered with ${what}.`, {
    hint: 'Check that the address is that of an OpenAI-compatible API.',
  });
}

/** Services repeat in their errors what they were sent. */
function withoutSecrets(text: string, { apiKey, headers }: Endpoint): string {
  const secrets = [apiKey, ...Object.values(headers)].filter(
    (secret) => secret !== undefined && secret.length > 3,
  );
  return secrets.reduce<string>((clean, secret) => clean.replaceAll(secret!, '***'), text);
}
