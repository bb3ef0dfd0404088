import { counted } from '../elements/counted.js';
import type { RunEvent } from '../observability/events.js';

/** What an operator reads of an event of a run; undefined for those that only figures are made of. */
export function eventLine(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'failed':
      return `failed (${event.error.code}) ${event.documentId}: ${event.error.message}`;
    case 'retry':
      return event.pausing
        ? `waiting for ${event.lane} (${event.error.code}, try ${event.attempt}): ${event.error.message}`
        : undefined;
    case 'recovered':
      return `${event.lane} answers again`;
    case 'lane-full':
      return `${counted(event.documents, 'waiting document')} for ${event.lane}: reading pauses until it catches up`;
    case 'lane-free':
      return `${event.lane} has room again`;
    case 'refresh':
      return refreshLine(event);
    case 'swept':
      return `${counted(event.documents, 'document')} gone from the source: deleted`;
    case 'caught-up':
      return 'caught up; watching for changes';
    case 'notice':
      return event.level === 'warn' ? `warning: ${event.message}` : event.message;
    case 'filling':
      return `generation ${event.generation}: ${counted(event.documents, 'document')} taken over, ${event.left} left, ${Math.round(event.perSecond)}/s, ready in about ${duration(event.etaMs)}`;
    case 'status-open':
      return `health and metrics: ${event.url}/health, ${event.url}/metrics`;
    case 'started':
    case 'settled':
    case 'progress':
    case 'batch':
    case 'lag':
    case 'finished':
      return undefined;
    default:
      return event satisfies never;
  }
}

function refreshLine({ model, result, to, error }: Extract<RunEvent, { type: 'refresh' }>): string {
  switch (result) {
    case 'switched':
      return `model ${model} was exchanged; what it makes is labelled ${to}`;
    case 'unchanged':
      return `model ${model} is unchanged`;
    case 'refused':
      return `warning: model ${model} serves on as it was: ${[error?.message, error?.hint].filter((said) => said !== undefined).join('. ')}`;
    default:
      return result satisfies never;
  }
}

function duration(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 2) return `${Math.ceil(ms / 1_000)} s`;
  return minutes < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 60)} h`;
}
