import { MillraceError } from '../errors/millrace-error.js';
import type { RunSummary } from '../observability/events.js';

/** What the process says when it ends. */
export const exitCode = {
  /** Done, or stopped by a signal with everything under way finished. */
  ok: 0,
  /** Something stopped the work; nothing that was under way is lost. */
  fault: 1,
  /** The command line or the configuration is wrong; nothing was started. */
  usage: 2,
  /** Stopped before everything under way had finished: it comes again at the next run. */
  aborted: 3,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof MillraceError && error.code === 'config_invalid' ? exitCode.usage : exitCode.fault;
}

export function exitCodeAfter({ end }: RunSummary): ExitCode {
  return end === 'aborted' ? exitCode.aborted : exitCode.ok;
}
