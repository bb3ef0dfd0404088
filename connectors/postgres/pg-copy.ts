import type { Connection, Submittable } from 'pg';

/** The part of the driver's wire connection that COPY needs; its types leave it out. */
interface CopyWire extends Connection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Uint8Array): void;
  endCopyFrom(): void;
}

/** Bytes handed to the socket at a time, so that the driver does not copy a whole batch at once. */
const piece = 1 << 18;

/** A query of the driver's own kind that sends one binary COPY. */
export function copyFrom(
  table: string,
  data: Uint8Array,
  settle: (error: Error | undefined) => void,
): Submittable {
  let failure: Error | undefined;
  const query = {
    submit: (wire: Connection) => (wire as CopyWire).query(`copy ${table} from stdin with (format binary)`),
    handleCopyInResponse: (wire: CopyWire) => {
      for (let at = 0; at < data.length; at += piece) wire.sendCopyFromChunk(data.subarray(at, at + piece));
      wire.endCopyFrom();
    },
    handleCommandComplete: () => {},
    handleError: (error: Error) => {
      failure ??= error;
      // A broken connection never gets ready again; settling twice is harmless.
      settle(failure);
    },
    handleReadyForQuery: () => settle(failure),
  };
  return query;
}
