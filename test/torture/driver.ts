import type { PipelineInput } from '../../src/config/schema.js';
import type { TcpProxy } from '../support/faults/tcp-proxy.js';
import type { Expected } from './log.js';

/** A source under torture: what changes in it, what can be done to its service, and when it has been read to its end. */
export interface TortureDriver<Change> {
  /** Name of the source in the ledger. */
  readonly source: string;
  /** Its part of the configuration: by way of the proxy. */
  readonly config: object;
  /** Steps before the chunker, by way of the proxy too, and what makes a document too large. */
  readonly steps?: PipelineInput['chain'];
  readonly limits?: PipelineInput['limits'];
  /** It keeps a whole that `millrace audit` compares with. */
  readonly audited: boolean;
  /** Daemons that may read it at once. */
  readonly daemons: number;
  readonly proxy: TcpProxy;
  /** Endless; the same for the same chance. */
  changes(random: () => number, population: number): Generator<Change>;
  /** Durable, in this order for each document, when it resolves; outages of the service are waited out. */
  write(changes: readonly Change[]): Promise<void>;
  /** Ends the service as a crash would, and starts it on what it had written. */
  restart(): Promise<void>;
  /** Changes that are unread or unconfirmed. */
  backlog(): Promise<number>;
  /** What the store must hold once there is no backlog, by document id, as the steps before the chunker left it. */
  expected(): Promise<ReadonlyMap<string, Expected>>;
  /** Gives the chain what it lacked, so that failed elements can be replayed; absent where nothing can be mended. */
  readonly mend?: () => Promise<void>;
  /** What was written of a document, oldest first, for people who look into a difference. */
  trace(id: string): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** @param random chance of the driver's own, for how it writes */
export type StartDriver<Change> = (random: () => number) => Promise<TortureDriver<Change>>;
