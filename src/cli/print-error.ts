import { MillraceError } from '../errors/millrace-error.js';
import { toWire } from '../errors/wire.js';
import type { Output } from './output.js';

/** What went wrong, where, and how to mend it. An unclassified error shows its stack: it is a defect. */
export function printError(thrown: unknown, output: Output): void {
  const error = MillraceError.from(thrown);
  if (output.json) {
    output.data({ error: toWire(error) });
    return;
  }
  output.problem(`error (${error.code}): ${error.message}`);
  for (const cause of toWire(error).causes)
    if (cause !== error.message) output.problem(`  because: ${cause}`);
  if (error.hint !== undefined) output.problem(`  ${error.hint}`);
  if (error.code === 'internal' && error.cause instanceof Error && error.cause.stack !== undefined)
    output.problem(error.cause.stack);
}
