import type { RunEvent } from '../observability/events.js';
import type { ServerEvent } from '../observability/server-events.js';

/** What an operator reads of a server's events; undefined for those that only metrics count. */
export function serverLine(event: RunEvent | ServerEvent): string | undefined {
  switch (event.type) {
    case 'listening':
      return `listening on ${event.url}`;
    case 'model-loaded':
      return `model ${event.model} loaded in ${(event.ms / 1000).toFixed(1)} s`;
    case 'ready':
      return `ready: clients of OpenAI's API use ${event.url}/v1`;
    case 'request-failed':
      return `a request to ${event.route} failed (${event.error.code}): ${event.error.message}`;
    case 'stopped':
      return event.end === 'drained' ? 'stopped' : 'stopped before everything under way was answered';
    case 'retry':
      return event.pausing
        ? `waiting for ${event.lane} (${event.error.code}): ${event.error.message}`
        : undefined;
    case 'recovered':
      return `${event.lane} answers again`;
    case 'notice':
      return event.level === 'warn' ? `warning: ${event.message}` : event.message;
    case 'batch':
    case 'request':
    case 'started':
    case 'status-open':
    case 'progress':
    case 'filling':
    case 'settled':
    case 'failed':
    case 'refresh':
    case 'swept':
    case 'lane-full':
    case 'lane-free':
    case 'caught-up':
    case 'lag':
    case 'finished':
      return undefined;
    default:
      return event satisfies never;
  }
}
