import { MillraceError } from '../errors/millrace-error.js';

/** Of a command that is not done while nothing is left that could bring it on. */
export function stuckError(): MillraceError {
  return new MillraceError(
    'transform_failed',
    'Something that was waited for never ended, and nothing is under way.',
    {
      hint: 'Look for a function of the configuration whose promise is never settled; whatever was under way comes again.',
    },
  );
}
