import { expect, test } from 'vitest';
import { eventLine } from '../../src/cli/event-line.js';
import { MillraceError } from '../../src/errors/millrace-error.js';

test('a refused refresh says why, and how to mend it', () => {
  const refused = (hint?: string) =>
    eventLine({
      type: 'refresh',
      model: 'topics',
      result: 'refused',
      from: 'a',
      to: 'b',
      ms: 1,
      error: new MillraceError('model_corrupt', 'It is damaged', hint === undefined ? {} : { hint }),
    });
  expect(refused('Fetch it again.')).toBe(
    'warning: model topics serves on as it was: It is damaged. Fetch it again.',
  );
  expect(refused()).toBe('warning: model topics serves on as it was: It is damaged');
});
