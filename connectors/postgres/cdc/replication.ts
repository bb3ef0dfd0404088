import pg from 'pg';
import type { Clock } from '../../../src/contracts/context.js';
import { clientConfig, connectClient, timed } from './connect-client.js';
import { divertData, type DivertedConnection } from './divert-data.js';
import { endClient, type PgConnection } from './end-client.js';
import { Interrupted, interruption } from './interrupted.js';
import { parseLsn, printLsn, type Lsn } from './lsn.js';
import { sessionSettings, type ServerOptions } from './sql-session.js';

/** A connection that speaks the replication protocol. The driver carries it; its types do not tell of it. */
type ReplicationClient = pg.Client & {
  readonly connection: PgConnection &
    DivertedConnection & {
      on(event: 'replicationStart', listener: () => void): void;
      sendCopyFromChunk(chunk: Buffer): void;
      readonly stream: { pause(): void };
    };
};

export interface ServerIdentity {
  /** Made when the cluster was: other clusters have others. */
  readonly system: string;
  /** Rises when a standby is promoted or a backup restored. */
  readonly timeline: number;
  /** End of the log. */
  readonly position: Lsn;
}

export interface StreamListener {
  /** A message of the output plugin, from `from` up to `to`. The bytes are only valid during the call. */
  message(bytes: Buffer, from: number, to: number): void;
  /** Everything up to here was sent. */
  keepalive(position: Lsn, replyWanted: boolean): void;
  ended(error: Error): void;
}

export interface StreamOptions {
  readonly slot: string;
  readonly publication: string;
  /** Transactions that were committed before are left out. */
  readonly from: Lsn;
}

/** `w`, `k`. https://www.postgresql.org/docs/current/protocol-replication.html */
const kinds = { data: 0x77, keepalive: 0x6b } as const;
/** Microseconds from 1970 to 2000. */
const epochMicroseconds = 946_684_800_000_000n;

/** The replication connection: who the server is, and the stream of one slot. */
export class Replication {
  readonly #client: ReplicationClient;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  #started: () => void = () => undefined;
  #listener: StreamListener | undefined;
  #closed = false;

  private constructor(client: ReplicationClient, { timeoutMs }: ServerOptions, clock: Clock) {
    this.#client = client;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
    client.on('error', (error) => this.#end(error));
    client.on('end', () => this.#end(new Error('The connection was closed.')));
    divertData(client.connection, (bytes, from, to) => this.#receive(bytes, from, to));
    // In the same turn, since the first data may follow directly.
    client.connection.on('replicationStart', () => this.#started());
  }

  static async open(
    server: ServerOptions,
    applicationName: string,
    clock: Clock,
    signal?: AbortSignal,
  ): Promise<Replication> {
    const config = { ...clientConfig(server, applicationName), replication: 'database' };
    const client = new pg.Client(config) as ReplicationClient;
    const replication = new Replication(client, server, clock);
    await connectClient(client, {
      settings: sessionSettings,
      timeoutMs: server.timeoutMs,
      clock,
      signal,
    });
    return replication;
  }

  async identify(): Promise<ServerIdentity> {
    const { rows } = await this.#client
      .query<{ systemid: string; timeline: number; xlogpos: string }>(
        timed('IDENTIFY_SYSTEM', this.#timeoutMs),
      )
      .catch((error: unknown) => {
        throw interruption(error);
      });
    const { systemid, timeline, xlogpos } = rows[0]!;
    return { system: systemid, timeline: Number(timeline), position: parseLsn(xlogpos) };
  }

  /** Begins the stream. Rejects when the server refuses, with `slotBusy` while another connection reads the slot. */
  async start({ slot, publication, from }: StreamOptions, listener: StreamListener): Promise<void> {
    const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
    const names = `'${quoted(publication).replaceAll("'", "''")}'`;
    const started = new Promise<void>((resolve) => {
      this.#started = () => {
        this.#listener = listener;
        resolve();
      };
    });
    // The promise of this query lasts as long as the stream does.
    const running = this.#client.query(
      `START_REPLICATION SLOT ${quoted(slot)} LOGICAL ${printLsn(from)} (proto_version '1', publication_names ${names})`,
    );
    const answered = new AbortController();
    const late = this.#clock.sleep(this.#timeoutMs, answered.signal).then(() => {
      throw new Interrupted(`No answer came for ${this.#timeoutMs} ms.`);
    });
    try {
      await Promise.race([started, running, late]);
    } catch (error) {
      throw interruption(error);
    } finally {
      answered.abort();
    }
    running.then(
      () => this.#end(new Error('The server ended the stream.')),
      (error: unknown) => this.#end(error as Error),
    );
  }

  /** @param durable everything up to here need never be sent again */
  confirm(received: Lsn, durable: Lsn, replyWanted = false): void {
    if (this.#closed) return;
    const message = Buffer.alloc(34);
    message.write('r');
    message.writeBigUInt64BE(received > durable ? received : durable, 1);
    message.writeBigUInt64BE(durable, 9);
    message.writeBigUInt64BE(durable, 17);
    message.writeBigInt64BE(BigInt(this.#clock.now()) * 1_000n - epochMicroseconds, 25);
    message.writeUInt8(replyWanted ? 1 : 0, 33);
    this.#client.connection.sendCopyFromChunk(message);
  }

  /** Lets the server wait: it sends nothing that is not read. What is confirmed still goes out. */
  pause(): void {
    this.#client.connection.stream.pause();
  }

  resume(): void {
    this.#client.connection.stream.resume();
  }

  /** Ends the stream, of which the listener is told. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#end(new Error('The connection was closed.'));
    await endClient(this.#client, this.#clock);
  }

  #receive(bytes: Buffer, from: number, to: number): void {
    const listener = this.#listener;
    if (listener === undefined) return;
    // Data come after three numbers of 8 bytes.
    if (bytes[from] === kinds.data) listener.message(bytes, from + 25, to);
    else if (bytes[from] === kinds.keepalive)
      listener.keepalive(bytes.readBigUInt64BE(from + 1), bytes[from + 17] === 1);
  }

  #end(error: Error): void {
    const listener = this.#listener;
    this.#listener = undefined;
    listener?.ended(interruption(error) as Error);
  }
}
