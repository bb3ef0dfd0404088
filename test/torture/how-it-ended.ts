import type { Ended } from '../support/millrace-process.js';

const shown = 30;

/** What a process said at the end, of itself. */
export function howItEnded({ code, signal, stderr }: Ended): string {
  const lines = stderr.split('\n').filter((line) => !line.includes('"type":"failed"'));
  return `ended with ${code ?? signal}:\n${lines.slice(-shown).join('\n')}`;
}
