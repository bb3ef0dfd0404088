/** What a statement's parameters may be. */
export type SqlValue = Scalar | readonly Scalar[];
type Scalar = string | number | boolean | null;

export interface SqlStatement {
  readonly text: string;
  readonly values?: readonly SqlValue[];
  /** In a transaction: how many rows it must give. With any other number the transaction ends here, undone. */
  readonly rows?: number;
  /** Outside a transaction, on a server: settings of the session for this statement alone. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Rows in Postgres's binary COPY format, header and trailer included. */
export interface SqlCopy {
  /** Table with its columns: `pg_temp.stage (a, b)`. */
  readonly copy: string;
  readonly data: Uint8Array;
}

export type SqlStep = SqlStatement | SqlCopy;
export type SqlRow = Readonly<Record<string, unknown>>;

/** Whether a step gave as many rows as it must. */
export function asExpected(step: SqlStep, rows: readonly SqlRow[]): boolean {
  return !('rows' in step) || step.rows === rows.length;
}

/**
 * All that the SQL core asks of a database. A transaction is a list of steps without a decision in between, so it
 * crosses a worker or a socket in one message and no client can hold locks while it thinks.
 *
 * Errors are MillraceErrors: `store_unavailable`, `store_conflict`, `store_refused` (the data), `store_layout` (there is
 * no such table or database), `store_locked`, `config_invalid`, else `internal`. An aborted signal rejects with its
 * reason; what was sent already may still take effect.
 */
export interface SqlConnection {
  /** Makes the database itself where it is ours to make: a folder. */
  create(signal?: AbortSignal): Promise<void>;
  /** One statement outside a transaction block, of which a second time does no harm: it may be sent again. */
  query(statement: SqlStatement, signal?: AbortSignal): Promise<readonly SqlRow[]>;
  /**
   * All steps or none, durable when it resolves, at READ COMMITTED.
   * @returns one list of rows a step; where a step gave another number of rows than it must, the lists end before its
   * own, and nothing took effect
   */
  transaction(steps: readonly SqlStep[], signal?: AbortSignal): Promise<readonly (readonly SqlRow[])[]>;
  /** Waits for what is under way. */
  close(): Promise<void>;
}
