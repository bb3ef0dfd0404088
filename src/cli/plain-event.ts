import { toWire } from '../errors/wire.js';
import type { RunEvent } from '../observability/events.js';
import type { ServerEvent } from '../observability/server-events.js';

/** An event as JSON can carry it: the message of an error is no property that JSON.stringify sees. */
export function plainEvent(event: RunEvent | ServerEvent): object {
  return 'error' in event && event.error !== undefined ? { ...event, error: toWire(event.error) } : event;
}
