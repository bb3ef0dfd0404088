import { errorCodes, type ErrorCode } from './codes.js';
import { MillraceError } from './millrace-error.js';
import { causeMessages } from './causes.js';

/** An error as plain data: between threads and in failed-element records. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  /** Messages of the causes, outermost first. */
  readonly causes: readonly string[];
}

export function toWire(error: unknown): WireError {
  const { code, message, hint, cause } = MillraceError.from(error);
  return { code, message, causes: causeMessages(cause), ...(hint === undefined ? {} : { hint }) };
}

export function fromWire(wire: WireError): MillraceError {
  const code = errorCodes.includes(wire.code) ? wire.code : 'internal';
  const cause = wire.causes.reduceRight<Error | undefined>(
    (inner, message) => new Error(message, inner === undefined ? undefined : { cause: inner }),
    undefined,
  );
  return new MillraceError(code, wire.message, {
    cause,
    ...(wire.hint === undefined ? {} : { hint: wire.hint }),
  });
}
