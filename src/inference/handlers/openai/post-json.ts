import type { Clock } from '../../../contracts/context.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import { exchange, type Connections } from './exchange.js';
import { readText } from './read-text.js';
import { refusal } from './refusal.js';
import { retryAfterMs } from './retry-after.js';

/** Where calls go, and what every one carries. */
export interface Endpoint {
  /** Address of the API; a query (`?api-version=…`) goes with every call, and into no message. */
  readonly url: string;
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
export async function postJson(
  endpoint: Endpoint,
  path: string,
  body: string,
  signal: AbortSignal,
): Promise<unknown> {
  const { url, apiKey, headers, timeoutMs, clock } = endpoint;
  const address = addressOf(url, path);
  const cut = new AbortController();
  const abort = () => cut.abort();
  const timer = new AbortController();
  let late = false;
  let whole = false;
  signal.throwIfAborted();
  signal.addEventListener('abort', abort, { once: true });
  clock.sleep(timeoutMs, timer.signal).then(
    () => {
      late = true;
      cut.abort();
    },
    () => undefined,
  );
  try {
    const response = await exchange({
      address: address + new URL(url).search,
      headers: {
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...headers,
      },
      body,
      agent: endpoint.connections.agent,
      signal: cut.signal,
    });
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
    signal.removeEventListener('abort', abort);
    timer.abort(ended);
    // An abort makes an error with its stack: nothing for every call that went well.
    if (!whole) cut.abort();
  }
}

/** Where a call goes, for messages. */
export function addressOf(url: string, path: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}/${path}`;
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
