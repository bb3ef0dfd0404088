import { MillraceError } from '../../errors/millrace-error.js';

/** Says which file of a model could not be read; what is classified already, and a stop, stays as it is. */
export function fileFault(path: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof MillraceError || code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
  const details = {
    cause: error,
    hint: "Put the model's own files there again, such that this user may read them.",
  };
  return code === 'ENOENT'
    ? new MillraceError('model_not_found', `There is no ${path}, or it is a link to nothing`, details)
    : new MillraceError('model_corrupt', `${path} cannot be read (${code})`, details);
}
