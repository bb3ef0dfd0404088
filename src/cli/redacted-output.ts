import type { Redact } from '../observability/redact.js';
import type { Output } from './output.js';

/** The same output without secrets. */
export function redactedOutput(output: Output, redact: Redact): Output {
  return {
    json: output.json,
    line: (text) => output.line(redact(text)),
    data: (value) => output.data(JSON.parse(redact(JSON.stringify(value)))),
    note: (text) => output.note(redact(text)),
    problem: (text) => output.problem(redact(text)),
  };
}
