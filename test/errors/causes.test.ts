import { expect, test } from 'vitest';
import { causeMessages } from '../../src/errors/causes.js';

test('causes are told outermost first, and of errors together without a message the first', () => {
  const both = new AggregateError([new Error('refused at ::1'), new Error('refused at 127.0.0.1')], '');
  expect(causeMessages(new Error('no answer', { cause: both }))).toEqual(['no answer', 'refused at ::1']);
  expect(causeMessages(new AggregateError([new Error('a')], 'all failed'))).toEqual(['all failed']);
});
