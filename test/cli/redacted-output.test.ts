import { expect, test } from 'vitest';
import { redactedOutput } from '../../src/cli/redacted-output.js';
import { createRedact } from '../../src/observability/redact.js';

test('no way of writing lets a secret out, and data stays data', () => {
  const written: unknown[] = [];
  const write = (value: unknown) => void written.push(value);
  const raw = { json: true, line: write, data: write, note: write, problem: write };
  const output = redactedOutput(raw, createRedact(['s"cret word']));
  output.line('a s"cret word');
  output.note('a s"cret word');
  output.problem('a s"cret word');
  output.data({ error: { message: 'a s"cret word', count: 2 } });
  expect(written).toEqual([
    ...Array.from({ length: 3 }, () => 'a [redacted]'),
    { error: { message: 'a [redacted]', count: 2 } },
  ]);
});
