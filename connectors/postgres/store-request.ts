import type { WireError } from '../../src/errors/wire.js';
import type { SqlRow, SqlStatement, SqlStep } from './connection.js';

/** What the owner of a folder does for its own process and for others: plain data. */
export type StoreRequest =
  | { readonly kind: 'create' }
  | { readonly kind: 'query'; readonly statement: SqlStatement }
  | { readonly kind: 'transaction'; readonly steps: readonly SqlStep[] };

/** One list of rows a step. */
export type StoreResult = readonly (readonly SqlRow[])[];

export interface RequestMessage {
  readonly id: number;
  readonly request: StoreRequest;
}

export interface AnswerMessage {
  readonly id: number;
  readonly result?: StoreResult;
  readonly error?: WireError;
}

/** Takes one request after another, whoever sends them. */
export type RequestHandler = (request: StoreRequest) => Promise<StoreResult>;
