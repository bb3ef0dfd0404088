import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { AddressGuard } from './address-guard.js';

export interface Call {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

export interface Exchange {
  /**
   * One call, its redirections followed.
   * @throws MillraceError `transform_failed` (too long, too many redirections, or a redirection to where nobody may
   * call), `config_invalid` (the address itself may not be called), `remote_unavailable`; the signal's reason
   */
  send(call: Call, signal: AbortSignal): Promise<Answer>;
  close(): void;
}

export interface ExchangeOptions {
  readonly guard: AddressGuard;
  readonly maxBytes: number;
  readonly maxRedirects: number;
}

const redirections = [301, 302, 303, 307, 308];

/** Calls over kept connections. Node's own client: it lets the guard choose the very address that is connected to. */
export function openExchange({ guard, maxBytes, maxRedirects }: ExchangeOptions): Exchange {
  const { lookup } = guard;
  const agents = {
    'http:': new HttpAgent({ keepAlive: true, lookup }),
    'https:': new HttpsAgent({ keepAlive: true, lookup }),
  };

  async function once({ url, method, headers, body }: Call, signal: AbortSignal): Promise<IncomingMessage> {
    guard.checkHost(url.hostname);
    const secure = url.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const options = {
        method,
        signal,
        agent: agents[secure ? 'https:' : 'http:'],
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...(body !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
          ...headers,
        },
      };
      const request = (secure ? httpsRequest : httpRequest)(url, options, resolve);
      request.on('error', reject);
      request.end(body);
    });
  }

  async function follow(call: Call, signal: AbortSignal): Promise<Answer> {
    let next = call;
    for (let hops = 0; ; hops += 1) {
      const response = await once(next, signal).catch((error: unknown) => {
        throw hops === 0 ? error : astray(next.url, error);
      });
      const { statusCode: status = 0, headers } = response;
      if (!redirections.includes(status) || headers.location === undefined)
        return { status, retryAfter: headers['retry-after'], text: await read(response, status) };
      response.destroy();
      if (hops >= maxRedirects) throw wrong(call.url, `redirects more than ${maxRedirects} times`);
      if (call.method !== 'GET') throw wrong(call.url, 'redirects a POST, which is not followed');
      next = redirected(next, headers.location);
    }
  }

  /** Counted while it comes: what is too long is cut off, not collected. Of a refusal the status is enough. */
  async function read(response: IncomingMessage, status: number): Promise<string> {
    const wanted = status >= 200 && status <= 299;
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of response as AsyncIterable<Buffer>) {
      size += part.length;
      if (size > maxBytes && !wanted) break;
      if (size > maxBytes)
        throw new MillraceError('transform_failed', `The answer is over ${maxBytes} bytes.`, {
          hint: 'Let it answer with less, or raise `http.maxBytes`.',
        });
      if (wanted) parts.push(part);
    }
    return Buffer.concat(parts).toString('utf8');
  }

  return {
    async send(call, signal) {
      try {
        return await follow(call, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof MillraceError) throw error;
        throw new MillraceError('remote_unavailable', `${shown(call.url)} could not be reached.`, {
          cause: error,
          hint: 'Is the service running there, and is `http.url` right?',
        });
      }
    },
    close: () => Object.values(agents).forEach((agent) => agent.destroy()),
  };
}

function redirected({ url, headers }: Call, location: string): Call {
  const to = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  if (to === undefined || !['http:', 'https:'].includes(to.protocol))
    throw wrong(url, 'redirects to what is no HTTP address');
  if (url.protocol === 'https:' && to.protocol === 'http:') throw wrong(url, 'redirects from https to http');
  // Headers hold secrets of this origin.
  return { url: to, method: 'GET', headers: to.origin === url.origin ? headers : {} };
}

/** Whom a service redirects to is no fault of the configuration: it fails this key alone. */
function astray(url: URL, error: unknown): unknown {
  if (!(error instanceof MillraceError) || error.code !== 'config_invalid') return error;
  return new MillraceError('transform_failed', `A redirection to ${url.origin}: ${error.message}`, {
    cause: error,
    ...(error.hint !== undefined && { hint: error.hint }),
  });
}

function wrong(url: URL, what: string): MillraceError {
  return new MillraceError('transform_failed', `${shown(url)} ${what}.`);
}

/** For messages: a query may hold what nobody should read. */
export function shown({ origin, pathname }: URL): string {
  return origin + pathname;
}
