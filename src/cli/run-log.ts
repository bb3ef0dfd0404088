import { toWire } from '../errors/wire.js';
import type { RunEvent } from '../observability/events.js';
import type { Redact } from '../observability/redact.js';
import type { Output } from './output.js';
import { printError } from './print-error.js';
import { createProgress } from './progress.js';

/** What a run tells while it goes on. */
export interface RunLog {
  see(event: RunEvent): void;
  /** A line about the command itself. */
  note(text: string): void;
  /** What ended the run. */
  fault(error: unknown): void;
  end(): void;
}

export type LogFormat = 'text' | 'json';

/** Lines for people and a bar on a terminal; JSON lines, one an event, elsewhere. @param output without secrets */
export async function createRunLog(
  format: LogFormat | undefined,
  output: Output,
  redact: Redact,
): Promise<RunLog> {
  const { stderr } = process;
  if ((format ?? (stderr.isTTY ? 'text' : 'json')) === 'json') {
    // Only daemons pay for it.
    const { createJsonLog } = await import('./json-log.js');
    const log = createJsonLog({ write: (line) => void stderr.write(line), now: Date.now, redact });
    return {
      ...log,
      fault: (error) => {
        log.fault(error);
        output.data({ error: toWire(error) });
      },
    };
  }
  const progress = createProgress(output, Date.now);
  return { ...progress, note: output.note, fault: (error) => printError(error, output) };
}
