import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Why a request is not let in. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly code: 'wrong_host' | 'invalid_api_key';
  readonly message: string;
}

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Whether a request may come in. Without a token only requests that name this machine may: a page in a browser may reach
 * loopback under a name of its own (DNS rebinding).
 * @returns undefined when it may
 */
export function refuseAccess(headers: IncomingHttpHeaders, token: string | undefined): Refusal | undefined {
  if (token === undefined) {
    const name = (headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
    if (isLoopback(name)) return undefined;
    return {
      ...{ status: 403, code: 'wrong_host' },
      message:
        'Without a token this server answers under the name of its own machine only: ask localhost or 127.0.0.1, or give the server a token.',
    };
  }
  const [, given] = /^Bearer +(.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (given !== undefined && timingSafeEqual(digest(given), digest(token))) return undefined;
  return {
    ...{ status: 401, code: 'invalid_api_key' },
    message: 'This server needs its token: Authorization: Bearer …',
  };
}

/** Of equal length, whatever was given. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
