import { MillraceError } from '../errors/millrace-error.js';
import { searchModes } from './hit.js';
import type { RetrieveOptions } from './retriever.js';

/** What a person can take in, and a store can give, of what is around a hit. */
const mostNeighbours = 100;

/** @throws MillraceError `config_invalid` */
export function checkQuestion(text: string, { k, mode, threshold, neighbours }: RetrieveOptions): void {
  if (text.trim() === '') throw wrong('The text of a query must not be blank.');
  if (!Number.isInteger(k) || k! < 1) throw wrong(`k must be a whole number from 1, not ${k}.`);
  if (!searchModes.includes(mode!))
    throw wrong(`mode must be one of ${searchModes.join(', ')}, not ${String(mode)}.`);
  if (threshold !== undefined && mode === 'sparse')
    throw wrong('threshold is a cosine similarity, which a search by words alone has not; leave it out.');
  if (threshold !== undefined && !(threshold >= -1 && threshold <= 1))
    throw wrong(`threshold is a cosine similarity, from -1 to 1, not ${threshold}.`);
  if (
    neighbours !== undefined &&
    !(Number.isInteger(neighbours) && neighbours >= 0 && neighbours <= mostNeighbours)
  )
    throw wrong(`neighbours must be a whole number from 0 to ${mostNeighbours}, not ${neighbours}.`);
}

function wrong(message: string): MillraceError {
  return new MillraceError('config_invalid', message);
}
