/** No service is waited for longer without asking it again. */
const mostMs = 300_000;

/**
 * Reads a `Retry-After` header: seconds or an HTTP date (RFC 9110, section 10.2.3).
 * @returns milliseconds, from 0 to five minutes; undefined when there is none that can be read
 */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(mostMs, Math.max(0, ms));
}
