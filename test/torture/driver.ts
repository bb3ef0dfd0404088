import type { TcpProxy } from '../support/faults/tcp-proxy.js';
import type { Expected } from './log.js';
import type { Operation } from './operations.js';

/** A source under torture: what writes to it, what can be done to its service, and when it has been read to its end. */
export interface TortureDriver {
  /** Name of the source in the ledger. */
  readonly source: string;
  /** Its part of the configuration: by way of the proxy. */
  readonly config: object;
  /** Daemons that may read it at once. */
  readonly daemons: number;
  readonly proxy: TcpProxy;
  /** Durable, in this order for each document, when it resolves; outages of the service are waited out. */
  write(operations: readonly Operation[]): Promise<void>;
  /** Ends the service as a crash would, and starts it on what it had written. */
  restart(): Promise<void>;
  /** Changes that are unread or unconfirmed. */
  backlog(): Promise<number>;
  /** What the store must hold once there is no backlog, by document id. */
  expected(): Promise<ReadonlyMap<string, Expected>>;
  /** What was written of a document, oldest first, for people who look into a difference. */
  trace(id: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}
