import { MillraceError } from './millrace-error.js';

/** A question for another generation than the one that is read. */
export function generationMoved(pipeline: string, active: number, wanted: number): MillraceError {
  return new MillraceError(
    'generation_moved',
    `Pipeline ${JSON.stringify(pipeline)} is read from generation ${active} now, not from ${wanted}.`,
    { hint: 'Ask again with the models of that generation.' },
  );
}

/** A question in a space that the store has not got. */
export function noSuchSpace(pipeline: string, wanted: string, there: readonly string[]): MillraceError {
  return new MillraceError(
    'store_layout',
    `Pipeline ${JSON.stringify(pipeline)} has no space ${JSON.stringify(wanted)} in this store.`,
    { hint: `It has ${there.map((name) => JSON.stringify(name)).join(', ')}.` },
  );
}
