import type { Redis } from 'ioredis';
import { messageOf } from '../../src/errors/message-of.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { connect, replyCode } from './client.js';
import type { RedisConnectionConfig } from './config.js';
import { mayPass } from './refusal.js';

/** A connection for short questions, made at its first use. */
export interface LookupClient {
  /**
   * @param signal cuts the question off; with it the connection, on which its late answer would come
   * @throws MillraceError `remote_unavailable`, `remote_refused`, `transform_failed`; the signal's reason
   */
  use<Result>(signal: AbortSignal, work: (client: Redis) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export function lookupClient(config: RedisConnectionConfig, name: string): LookupClient {
  let connecting: Promise<Redis> | undefined;

  async function drop(connected: Promise<Redis>): Promise<void> {
    if (connecting === connected) connecting = undefined;
    const client = await connected.catch(() => undefined);
    client?.disconnect();
  }

  return {
    async use(signal, work) {
      signal.throwIfAborted();
      const connected = (connecting ??= connect(config, {
        name,
        patient: false,
        unavailable: 'remote_unavailable',
      }));
      const cut = () => void drop(connected);
      signal.addEventListener('abort', cut, { once: true });
      try {
        return await work(await connected);
      } catch (error) {
        signal.throwIfAborted();
        // One that never connected does not try again by itself.
        if (error instanceof MillraceError && error.code === 'remote_unavailable') await drop(connected);
        throw classified(error, config.url);
      } finally {
        signal.removeEventListener('abort', cut);
      }
    },
    async close() {
      if (connecting !== undefined) await drop(connecting);
    },
  };
}

function classified(error: unknown, url: string): MillraceError {
  const refused = ['NOAUTH', 'WRONGPASS', 'NOPERM'].includes(
    replyCode(error) ?? replyCode((error as { cause?: unknown }).cause) ?? '',
  );
  if (error instanceof MillraceError && !refused) return error;
  const { protocol, host } = new URL(url);
  const where = `Redis at ${protocol}//${host}`;
  const said = messageOf(error);
  if (refused)
    return new MillraceError('remote_refused', `${where} refuses this user or password: ${said}`, {
      cause: error,
      hint: 'Check the user and the password in `url`, and what this user may do (GET, HGETALL, PING).',
    });
  return new MillraceError(mayPass(error) ? 'remote_unavailable' : 'transform_failed', `${where}: ${said}`, {
    cause: error,
  });
}
