import { expect, test } from 'vitest';
import { createJsonLog } from '../../src/cli/json-log.js';
import { secretsIn } from '../../src/config/secrets.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { createRedact } from '../../src/observability/redact.js';

function logInto(secrets: unknown = {}) {
  const lines: string[] = [];
  let now = 1_000;
  const log = createJsonLog({
    write: (line) => lines.push(line),
    now: () => now,
    redact: createRedact(secretsIn(secrets)),
  });
  return {
    log,
    lines,
    later: (ms: number) => (now += ms),
    values: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

test('each event is one JSON line with its level, its type and a message; figures are not logged one by one', () => {
  const { log, lines, values } = logInto();
  const error = new MillraceError('store_unavailable', 'It is\naway.');
  log.see({ type: 'started', pipeline: 'p', watch: true });
  log.see({ type: 'settled', documentId: 'a', outcome: 'stored', embedded: 1, characters: 3 });
  log.see({ type: 'retry', lane: 'sink', error, attempt: 3, delayMs: 200, pausing: true });
  log.see({ type: 'lag', source: 's', entries: 3 });
  log.see({ type: 'notice', level: 'warn', code: 'entries_lost', message: 'gone' });
  expect(lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
  expect(values()).toMatchObject([
    { level: 'info', type: 'started', pipeline: 'p', time: '1970-01-01T00:00:01.000Z' },
    {
      ...{ level: 'warn', type: 'retry', lane: 'sink' },
      error: { code: 'store_unavailable', message: 'It is\naway.' },
      msg: 'waiting for sink (store_unavailable, try 3): It is\naway.',
    },
    { level: 'warn', type: 'notice', code: 'entries_lost', msg: 'warning: gone' },
  ]);
});

test('progress is a line an interval, with what was done until then', () => {
  const { log, values, later } = logInto();
  const settle = () =>
    log.see({ type: 'settled', documentId: 'a', outcome: 'stored', embedded: 2, characters: 3 });
  settle();
  later(10_000);
  settle();
  settle();
  expect(values()).toMatchObject([{ type: 'progress', documents: 2, embedded: 4, failed: 0, rate: 0 }]);
});

test('secrets of the configuration are in no line, however they are written', () => {
  const { log, lines } = logInto({
    sink: { config: { url: 'postgres://me:pass%20word@host/db' } },
    embed: { apiKey: 'sk-"quoted"', headers: { 'x-anything': 'headervalue' } },
    lists: [{ token: 'listed-token' }],
  });
  for (const secret of ['pass word', 'pass%20word', 'sk-"quoted"', 'headervalue', 'listed-token'])
    log.fault(new MillraceError('internal', `It said ${secret}.`, { cause: new Error(secret) }));
  expect(lines).toHaveLength(5);
  for (const line of lines) {
    expect(line).toContain('[redacted]');
    expect(line).not.toMatch(/pass.{1,3}word|sk-|headervalue|listed-token/);
    expect(() => JSON.parse(line) as unknown).not.toThrow();
  }
});
