import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from './api-error.js';

/** Whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Lets a request in. Without a token only requests that name this machine are: a page in a browser may reach loopback
 * under a name of its own (DNS rebinding).
 * @throws ApiError 401 or 403
 */
export function checkAccess(headers: IncomingHttpHeaders, token: string | undefined): void {
  if (token === undefined) {
    const name = (headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
    if (isLoopback(name)) return;
    throw new ApiError(403, 'wrong_host', 'This server answers under the name of its own machine only.');
  }
  const [, given] = /^Bearer +(.+)$/i.exec(headers.authorization ?? '') ?? [];
  if (given !== undefined && timingSafeEqual(digest(given), digest(token))) return;
  throw new ApiError(401, 'invalid_api_key', 'This server needs its token: Authorization: Bearer …');
}

/** Of equal length, whatever was given. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
