import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { Redis, type RedisOptions } from 'ioredis';
import type { ErrorCode } from '../../src/errors/codes.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { RedisConnectionConfig } from './config.js';

export interface ClientOptions {
  /** Shown by `CLIENT LIST`. */
  readonly name: string;
  /**
   * Whether a command waits for a lost connection to come back. One that takes something (a blocking read) must not be
   * sent twice: it fails instead.
   */
  readonly patient: boolean;
  /** Its replies are read by others: it speaks version 2 of the protocol, and is not made again once it is lost. */
  readonly handedOver?: boolean;
  /** Ends the making of the connection. */
  readonly signal?: AbortSignal;
  /** Code for a server that cannot be reached. Default: `source_unavailable`. */
  readonly unavailable?: ErrorCode;
}

/**
 * Connects, and from then on reconnects by itself.
 * @throws MillraceError `unavailable` of the options when the first connection cannot be made; `config_invalid` when the file of the
 * certificate authority cannot be read
 */
export async function connect(config: RedisConnectionConfig, options: ClientOptions): Promise<Redis> {
  const client = new Redis(config.url, {
    lazyConnect: true,
    protocol: options.handedOver === true ? 2 : 3,
    // Redis takes no name with a blank.
    connectionName: options.name.replaceAll(' ', ':'),
    connectTimeout: config.timeoutMs,
    socketTimeout: config.timeoutMs,
    maxRetriesPerRequest: options.patient ? null : 0,
    autoResendUnfulfilledCommands: options.patient,
    retryStrategy: (tries: number) => (options.handedOver === true ? null : Math.min(tries * 100, 2_000)),
    ...(config.ca !== undefined && { tls: { ca: await readAuthority(config.ca) } }),
  } satisfies RedisOptions);
  // Without a listener an error event ends the process. What was lost later shows at the next command.
  let said: unknown;
  client.on('error', (error) => (said = error));
  const abort = () => {
    client.disconnect();
    // It would wait for a farewell.
    (client.stream as Socket | undefined)?.destroy();
  };
  options.signal?.addEventListener('abort', abort, { once: true });
  try {
    options.signal?.throwIfAborted();
    await client.connect();
    return client;
  } catch (cause) {
    client.disconnect();
    throw unavailable(options.unavailable ?? 'source_unavailable', config.url, said ?? cause);
  } finally {
    options.signal?.removeEventListener('abort', abort);
  }
}

/** The first word of an error reply is its code in the protocol: `NOGROUP`, `BUSYGROUP`, `NOAUTH`. */
export function replyCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return undefined;
  return /^[A-Z]+/.exec(error.message)?.[0];
}

async function readAuthority(file: string): Promise<Buffer> {
  return readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new MillraceError(
      'config_invalid',
      `The certificate authority ${file} cannot be read (${cause.code}).`,
      {
        cause,
        hint: '`ca` is the path of a PEM file, relative to the configuration file.',
      },
    );
  });
}

function unavailable(code: ErrorCode, url: string, cause: unknown): MillraceError {
  const { protocol, host } = new URL(url);
  const refused = ['NOAUTH', 'WRONGPASS', 'NOPERM'].includes(replyCode(cause) ?? '');
  return new MillraceError(code, `Redis at ${protocol}//${host} cannot be used.`, {
    cause,
    hint: refused
      ? 'It refuses this user or password.'
      : 'Is it running there, and does it take connections from here? TLS needs rediss://.',
  });
}
