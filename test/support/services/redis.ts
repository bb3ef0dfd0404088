import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from './free-port.js';

/** A real Redis on a free loopback port, in a folder of its own. */
export interface RedisService {
  readonly url: string;
  /** Process id of the server. */
  readonly pid: number;
  /** A connection for the test itself. */
  readonly client: Redis;
  /** Ends it at once, as a crash would, and starts it on the same port; with `keep`, on what it had written to disk. */
  restart(options?: { readonly keep?: boolean }): Promise<void>;
  stop(): Promise<void>;
}

/** @param settings more of its configuration: `{ requirepass: 'secret' }` */
export async function startRedis(settings: Readonly<Record<string, string>> = {}): Promise<RedisService> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-redis-'));
  const port = await freePort();
  const password = settings['requirepass'];
  const url = `redis://${password === undefined ? '' : `:${password}@`}127.0.0.1:${port}`;
  const options = {
    bind: '127.0.0.1',
    port: String(port),
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: 'always',
    ...settings,
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const start = async () => {
    const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const said: string[] = [];
    server.stdout!.setEncoding('utf8').on('data', (text: string) => said.push(text));
    server.on('error', (error) => said.push(error.message));
    await ready(server, url, said);
    return server;
  };
  let server = await start();
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on('error', () => undefined);
  const end = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  };
  return {
    url,
    client,
    get pid() {
      return server.pid!;
    },
    async restart({ keep = true } = {}) {
      await end();
      if (!keep) await rm(join(folder, 'appendonlydir'), { recursive: true, force: true });
      server = await start();
    },
    async stop() {
      client.disconnect();
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function ready(server: ChildProcess, url: string, said: readonly string[]): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    // Without a number it could not even be started.
    const lives = () => server.pid !== undefined && server.exitCode === null;
    for (let attempt = 0; attempt < 1_600 && lives(); attempt += 1) {
      try {
        await client.connect();
        await client.ping();
        return;
      } catch {
        await delay(25);
      }
    }
  } finally {
    client.disconnect();
  }
  server.kill('SIGKILL');
  throw new Error(`Redis did not start. Install it: apt-get install redis-server\n${said.join('')}`);
}
