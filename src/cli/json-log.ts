import { pino, type Logger } from 'pino';
import { toWire } from '../errors/wire.js';
import type { RunEvent } from '../observability/events.js';
import type { Redact } from '../observability/redact.js';
import { eventLine } from './event-line.js';
import type { RunLog } from './run-log.js';
import { plainEvent } from './plain-event.js';
import { summaryLine } from './summary-line.js';

export interface JsonLogOptions {
  /** Takes a line with its end. */
  write(line: string): void;
  now(): number;
  readonly redact: Redact;
}

const progressEveryMs = 10_000;

/** One JSON line an event, for machines: `level`, `time`, `type`, the fields of the event, and `msg` for people. */
export function createJsonLog({ write, now, redact }: JsonLogOptions): RunLog {
  const log = pino(
    {
      formatters: { level: (label) => ({ level: label }) },
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
    },
    { write: (line) => write(redact(line)) },
  );
  const counts = { documents: 0, embedded: 0, failed: 0 };
  const began = now();
  let progressAt = began + progressEveryMs;

  function count(embedded: number, share?: number): void {
    counts.documents += share === undefined ? 1 : 0;
    counts.embedded += embedded;
    if (now() < progressAt) return;
    progressAt = now() + progressEveryMs;
    const rate = Math.round((counts.documents * 1_000) / Math.max(1, now() - began));
    log.info({ type: 'progress', ...counts, rate, ...(share !== undefined && { share }) });
  }

  return {
    see: (event) => {
      if (event.type === 'settled') return count(event.embedded);
      if (event.type === 'progress') return count(0, event.share);
      if (event.type === 'failed') counts.failed += 1;
      writeEvent(log, event);
    },
    note: (text) => log.info({ type: 'note' }, text),
    fault: (error) => log.error({ type: 'error', error: toWire(error) }, toWire(error).message),
    end: () => undefined,
  };
}

function writeEvent(log: Logger, event: RunEvent): void {
  const level = levelOf(event);
  if (level === undefined) return;
  const text = event.type === 'finished' ? summaryLine(event.summary) : eventLine(event);
  // Its own level is the level of the line.
  const fields = event.type === 'notice' ? { type: event.type, code: event.code } : plainEvent(event);
  log[level](fields, text);
}

function levelOf(event: RunEvent): 'info' | 'warn' | undefined {
  switch (event.type) {
    case 'failed':
    case 'lane-full':
      return 'warn';
    case 'retry':
      return event.pausing ? 'warn' : undefined;
    case 'refresh':
      return event.result === 'refused' ? 'warn' : 'info';
    case 'notice':
      return event.level;
    case 'started':
    case 'filling':
    case 'status-open':
    case 'recovered':
    case 'lane-free':
    case 'swept':
    case 'caught-up':
    case 'finished':
      return 'info';
    // Figures: `/metrics` has them.
    case 'settled':
    case 'progress':
    case 'batch':
    case 'lag':
      return undefined;
    default:
      return event satisfies never;
  }
}
