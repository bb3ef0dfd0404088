import type { Socket } from 'node:net';
import type { Redis } from 'ioredis';
import { messageOf } from '../../src/errors/message-of.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { connect } from './client.js';
import type { Command, Commands } from './commands.js';
import type { RedisSourceConfig } from './config.js';
import { ReplyReader, type Reply } from './reply-reader.js';

/**
 * A connection for reading: the client makes it (TLS, user, database), then its replies are read here, which costs half of
 * what the client takes for it. Once lost it stays so; what cannot be read loses it with a MillraceError.
 */
export class ReadingConnection implements Commands {
  readonly #client: Redis;
  readonly #socket: Socket;
  /** Who waits for a reply, in the order of the commands. */
  readonly #waiting: { resolve(reply: Reply): void; reject(error: Error): void }[] = [];
  #lost: Error | undefined;

  private constructor(client: Redis, timeoutMs: number) {
    this.#client = client;
    this.#socket = client.stream as Socket;
    const reader = new ReplyReader((reply) => this.#answer(reply));
    this.#socket.removeAllListeners('data');
    this.#socket.on('data', (bytes: Buffer) => {
      try {
        reader.push(bytes);
      } catch (error) {
        this.#lose(unreadable(error));
      }
    });
    this.#socket.on('close', () => this.#lose(new Error('The connection was closed.')));
    this.#socket.setTimeout(timeoutMs);
    this.#socket.on('timeout', () => {
      if (this.#waiting.length > 0) this.#lose(new Error(`No answer came for ${timeoutMs} ms.`));
    });
  }

  /** @throws MillraceError `source_unavailable` */
  static async open(
    config: RedisSourceConfig,
    name: string,
    signal: AbortSignal,
  ): Promise<ReadingConnection> {
    const client = await connect(config, { name, patient: false, handedOver: true, signal });
    return new ReadingConnection(client, config.timeoutMs);
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  async call(...command: Command): Promise<Reply> {
    const [reply] = await this.#send([command]);
    if (reply instanceof Error) throw reply;
    return reply!;
  }

  async multi(commands: readonly Command[]): Promise<Reply[]> {
    const replies = await this.#send([['MULTI'], ...commands, ['EXEC']]);
    const refused = replies.find((reply) => reply instanceof Error);
    if (refused !== undefined) throw refused;
    return replies.at(-1) as Reply[];
  }

  close(): void {
    this.#lose(new Error('The connection was closed.'));
  }

  async #send(commands: readonly Command[]): Promise<Reply[]> {
    if (this.#lost !== undefined) throw this.#lost;
    const replies = commands.map(
      () => new Promise<Reply>((resolve, reject) => this.#waiting.push({ resolve, reject })),
    );
    this.#socket.write(commands.map(encode).join(''));
    return Promise.all(replies);
  }

  #answer(reply: Reply): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) throw new Error('Redis answered what was not asked.');
    waiting.resolve(reply);
  }

  #lose(error: Error): void {
    if (this.#lost !== undefined) return;
    this.#lost = error;
    this.#client.disconnect();
    // What still comes is nobody's, and a server that is silent would not take leave.
    this.#socket.destroy();
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}

function unreadable(cause: unknown): MillraceError {
  const why = messageOf(cause);
  return new MillraceError('source_unavailable', `What Redis sent cannot be read: ${why}`, {
    cause,
    hint: 'Nothing of it was confirmed, so it comes again. Does anything on the way to the server change what it sends? Else this is a defect: report it with the version of the server.',
  });
}

/** A command as the protocol has it: a list of texts with their lengths in bytes. */
function encode(command: Command): string {
  let text = `*${command.length}\r\n`;
  for (const part of command) {
    const given = String(part);
    text += `$${Buffer.byteLength(given)}\r\n${given}\r\n`;
  }
  return text;
}
