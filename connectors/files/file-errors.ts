import { MillraceError } from '../../src/errors/millrace-error.js';

/** The system's code of a failed file operation (`ENOENT`). */
export function systemCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** The path leads nowhere any more, or to something else than a file: it vanished after it was listed. */
export function isGone(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EISDIR' || code === 'ENXIO';
}

/** The machine has no room for more open files: no fault of the file that was next. */
function isExhaustion(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM';
}

/** A file is there but cannot be read. @throws MillraceError `source_unavailable` when the machine is at fault */
export function unreadableFile(path: string, error: unknown): MillraceError {
  if (isExhaustion(error))
    throw new MillraceError('source_unavailable', `${path} cannot be opened: ${systemCode(error)}.`, {
      cause: error,
      hint: 'Raise the limit of open files, or stop what else uses them.',
    });
  return new MillraceError(
    'item_unreadable',
    `${path} cannot be read: ${systemCode(error) ?? 'unknown error'}.`,
    {
      cause: error,
      hint: 'Give the user that runs Millrace the right to read it, or leave it out by `exclude`.',
    },
  );
}

/** Node shows a name that is no UTF-8 with U+FFFD in it, and such a path then leads nowhere. */
export function isUnnameable(path: string): boolean {
  return path.includes('\uFFFD');
}

export function unnameableFile(path: string): MillraceError {
  return new MillraceError('item_unreadable', `The name of ${JSON.stringify(path)} is not valid UTF-8.`, {
    hint: 'Rename the file.',
  });
}

export function tooLarge(what: string, maxBytes: number): MillraceError {
  return new MillraceError('item_too_large', `${what} is over the limit of ${maxBytes} bytes.`, {
    hint: 'Split it into smaller documents, or raise the limit.',
  });
}
