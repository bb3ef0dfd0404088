import { expect, test } from 'vitest';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { createHealth } from '../../src/observability/health.js';

const away = new MillraceError('store_unavailable', 'Nobody answers.');

function running() {
  const health = createHealth();
  health.see({ type: 'started', pipeline: 'p', watch: true });
  return health;
}

test('a run is ready from its start to its end', () => {
  const health = createHealth();
  expect(health.state()).toEqual({ ready: false, reasons: [expect.stringContaining('starting')] });
  health.see({ type: 'started', pipeline: 'p', watch: true });
  expect(health.state()).toEqual({ ready: true, reasons: [] });
});

test('a lane that waits for an outage to pass is named with its reason until it answers again', () => {
  const health = running();
  health.see({ type: 'retry', lane: 'sink', error: away, attempt: 1, delayMs: 1, pausing: true });
  expect(health.state()).toEqual({
    ready: false,
    reasons: ['sink is away (store_unavailable): Nobody answers.'],
  });
  health.see({ type: 'recovered', lane: 'sink' });
  expect(health.state().ready).toBe(true);
});

test('a short retry is no reason to worry', () => {
  const health = running();
  health.see({ type: 'retry', lane: 'sink', error: away, attempt: 1, delayMs: 1, pausing: false });
  expect(health.state().ready).toBe(true);
});

test('a stuck lane and a source that stands still are told side by side', () => {
  const health = running();
  health.see({ type: 'lane-full', lane: 'embed de', documents: 12 });
  health.see({ type: 'lag', source: 's', bytes: 10, stalled: 'the slot is inactive' });
  expect(health.state().reasons).toEqual([
    'embed de is stuck: 12 documents wait for it',
    's stands still: the slot is inactive',
  ]);
  health.see({ type: 'lane-free', lane: 'embed de' });
  health.see({ type: 'lag', source: 's', bytes: 0 });
  expect(health.state().ready).toBe(true);
});
