import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startMillrace } from '../test/support/millrace-process.js';
import { startPostgres, type PostgresService } from '../test/support/services/postgres.js';
import { startRedis } from '../test/support/services/redis.js';
import { minilmFolder } from '../test/support/weights/minilm.js';
import type { Benchmark } from './figure.js';
import { median } from './median.js';

const changes = 60;
const everyMs = 250;
const pollMs = 5;
const warmUp = 5;

interface LiveSource {
  readonly config: object;
  /** Resolves when the source has taken the change for good. */
  commit(id: string, text: string): Promise<void>;
  stop(): Promise<void>;
}

/** From the commit of a change to its chunks in the store, where every search sees them. */
export const live: Benchmark = {
  about: 'all-MiniLM-L6-v2: time from a commit in Redis or Postgres until it can be found, under light load',
  async *run(say) {
    const store = await startPostgres();
    try {
      for (const [name, start] of [
        ['redis', startRedisSide],
        ['postgres', startPostgresSide],
      ] as const) {
        const source = await start();
        try {
          const times = await measure(name, source, store, say);
          const sorted = times.toSorted((a, b) => a - b);
          yield {
            name: `live/${name}/median`,
            value: Math.round(median(times)),
            unit: 'ms',
            bar: 1_000,
            better: 'lower',
          };
          yield {
            name: `live/${name}/p95`,
            value: Math.round(sorted[Math.floor(sorted.length * 0.95)]!),
            unit: 'ms',
            better: 'lower',
          };
        } finally {
          await source.stop();
        }
      }
    } finally {
      await store.stop();
    }
  },
};

async function measure(
  name: string,
  source: LiveSource,
  store: PostgresService,
  say: (line: string) => void,
): Promise<number[]> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-live-'));
  const config = join(folder, 'millrace.json');
  await writeFile(
    config,
    JSON.stringify({
      name: `live-${name}`,
      source: source.config,
      chain: [{ chunk: { markdown: { maxTokens: 128 } } }, { embed: { onnx: { model: minilmFolder() } } }],
      sink: { postgres: { url: store.url } },
      failed: { files: { path: 'failed' } },
    }),
  );
  const daemon = startMillrace(['run', config]);
  const reader = new pg.Client({ connectionString: store.url });
  await reader.connect();
  try {
    await daemon.says('caught up');
    const found = async (id: string, hash: string) => {
      const { rowCount } = await reader.query(
        'select from millrace.chunks where pipeline = $1 and document_id = $2 and text like $3 limit 1',
        [`live-${name}`, id, `%${hash}%`],
      );
      return rowCount === 1;
    };
    const times: number[] = [];
    for (let change = 0; change < warmUp + changes; change += 1) {
      const id = `doc-${change % 20}`;
      const mark = `change${change}mark`;
      await source.commit(id, `# Ticket ${change}\n\nThe export hangs at the end, says ${mark}. `.repeat(3));
      const committed = performance.now();
      while (!(await found(id, mark))) {
        if (performance.now() - committed > 30_000) throw new Error(`${mark} was not found in 30 s.`);
        await delay(pollMs);
      }
      if (change >= warmUp) times.push(performance.now() - committed);
      await delay(everyMs);
    }
    say(`${name}: ${changes} changes, one after the other, slowest ${Math.round(Math.max(...times))} ms`);
    return times;
  } finally {
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    await reader.end();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startRedisSide(): Promise<LiveSource> {
  const redis = await startRedis();
  await redis.client.xgroup('CREATE', 'live', 'millrace-live-redis', '0', 'MKSTREAM');
  return {
    config: { redis: { url: redis.url, stream: 'live' } },
    commit: async (id, text) => void (await redis.client.xadd('live', '*', 'id', id, 'text', text)),
    stop: () => redis.stop(),
  };
}

async function startPostgresSide(): Promise<LiveSource> {
  const server = await startPostgres({ wal_level: 'logical' });
  const writer = new pg.Client({ connectionString: server.url });
  await writer.connect();
  await writer.query('create table documents (id text primary key, body text not null)');
  return {
    config: { postgres: { url: server.url, table: 'documents', text: 'body' } },
    commit: async (id, text) =>
      void (await writer.query(
        'insert into documents values ($1, $2) on conflict (id) do update set body = excluded.body',
        [id, text],
      )),
    async stop() {
      await writer.end();
      await server.stop();
    },
  };
}
