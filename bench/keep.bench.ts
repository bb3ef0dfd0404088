import pg from 'pg';
import { postgresConfig } from '../connectors/postgres/config.js';
import { createPostgresStore } from '../connectors/postgres/postgres-store.js';
import type { StoreWrite } from '../src/contracts/sink.js';
import type { Chunk } from '../src/elements/chunk.js';
import { createDocument } from '../src/elements/document.js';
import { textHash } from '../src/elements/hash.js';
import { ChunkIds } from '../src/elements/ids.js';
import { versionOf } from '../src/elements/version.js';
import { startPostgres } from '../test/support/services/postgres.js';
import { testContext } from '../test/support/test-context.js';
import type { Benchmark, Figure } from './figure.js';
import { median } from './median.js';
import { processorTime } from './processor-time.js';
import { readmes } from './readmes.js';
import { batchesOf, width } from './sink-rows.js';

const documents = 50_000;
const chunksEach = 2;
const chunkUnits = 1_000;
const batch = 512;
/** Batches at once. */
const underWay = 2;
const rounds = 3;
const megabyte = 1_000_000;

/** What it costs to keep what sources gave (`keepText`): time of a first fill, and room. */
export const keep: Benchmark = {
  about: `first fill of Postgres with ${documents} documents, given texts kept and not kept`,
  async *run(say) {
    const server = await startPostgres({
      shared_buffers: '256MB',
      max_wal_size: '8GB',
      checkpoint_timeout: '30min',
    });
    const admin = new pg.Client({ connectionString: server.url });
    try {
      await admin.connect();
      const writes = rows();
      const results = { kept: [] as Filled[], left: [] as Filled[] };
      // The first round warms up and does not count.
      for (let round = 0; round <= rounds; round += 1)
        for (const side of round % 2 === 0 ? (['left', 'kept'] as const) : (['kept', 'left'] as const)) {
          const filled = await fill(server, admin, `${side}_${round}`, side === 'kept', writes);
          if (round > 0) results[side].push(filled);
          say(`${side}, round ${round} of ${rounds}: ${Math.round(filled.ms)} ms`);
        }
      yield* figures(results);
    } finally {
      await admin.end();
      await server.stop();
    }
  },
};

interface Filled {
  readonly ms: number;
  /** Of this process and the server. */
  readonly processorMs: number;
  /** Bytes of all tables with their indexes, and of the table of texts alone. */
  readonly bytes: number;
  readonly textBytes: number;
}

async function fill(
  server: { readonly url: string; readonly pid: number },
  admin: pg.Client,
  schema: string,
  keepText: boolean,
  writes: readonly StoreWrite[],
): Promise<Filled> {
  const config = postgresConfig.parse({ url: server.url, schema, index: 'off', keepText });
  const store = await createPostgresStore(config, testContext('bench'));
  try {
    await store.prepare({ spaces: [{ name: '*', width }] });
    const waiting = batchesOf(writes, batch);
    const serverBefore = await processorTime(server.pid);
    const before = process.cpuUsage();
    const began = performance.now();
    const worker = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        if ((await store.sink.write(next)).some(({ kind }) => kind !== 'done'))
          throw new Error('A document was not written.');
    };
    await Promise.all(Array.from({ length: underWay }, worker));
    const ms = performance.now() - began;
    const { user, system } = process.cpuUsage(before);
    const processorMs = (user + system) / 1_000 + (await processorTime(server.pid)) - serverBefore;
    const { rows: sizes } = await admin.query<{ bytes: string; texts: string }>(
      `select sum(pg_total_relation_size(oid))::int8 as bytes,
              coalesce(sum(pg_total_relation_size(oid)) filter (where relname = 'texts'), 0)::int8 as texts
       from pg_class where relnamespace = to_regnamespace($1) and relkind = 'r'`,
      [schema],
    );
    return { ms, processorMs, bytes: Number(sizes[0]!.bytes), textBytes: Number(sizes[0]!.texts) };
  } finally {
    await store.close();
    await admin.query(`drop schema ${schema} cascade`);
  }
}

function* figures({ kept, left }: Readonly<Record<'kept' | 'left', readonly Filled[]>>): Generator<Figure> {
  for (const [name, filled] of Object.entries({ kept, left }))
    yield {
      name: `keep/${name}`,
      value: Math.round(median(filled.map(({ ms }) => (documents * 1_000) / ms))),
      unit: 'documents/s',
      better: 'higher',
    };
  const times = (of: (filled: Filled) => number) =>
    Math.round(median(kept.map((one, round) => of(one) / of(left[round]!))) * 1_000) / 1_000;
  yield { name: 'keep/time', value: times(({ ms }) => ms), unit: 'times', better: 'lower' };
  yield {
    name: 'keep/processor-time',
    value: times(({ processorMs }) => processorMs),
    unit: 'times',
    better: 'lower',
  };
  const mb = (bytes: number) => Math.round(bytes / megabyte);
  yield { name: 'keep/tables', value: mb(left[0]!.bytes), unit: 'MB', better: 'lower' };
  yield { name: 'keep/texts', value: mb(kept[0]!.textBytes), unit: 'MB', better: 'lower' };
}

/** Passages of READMEs, each beginning elsewhere: what a text can be packed to is what it is in earnest. */
function rows(): StoreWrite[] {
  const corpus = readmes().join('\n');
  const ids = new ChunkIds('bench');
  const units = chunksEach * chunkUnits;
  return Array.from({ length: documents }, (_, at): StoreWrite => {
    const from = (at * 379) % (corpus.length - units);
    const version = versionOf(0, 1n);
    const given = createDocument({
      id: `document-${at}`,
      text: corpus.slice(from, from + units),
      metadata: { number: at, format: 'markdown' },
      version,
    });
    const chunks = Array.from({ length: chunksEach }, (_, ordinal): Chunk => {
      const [start, end] = [ordinal * chunkUnits, (ordinal + 1) * chunkUnits];
      const text = given.text.slice(start, end);
      const hash = textHash(`${at} ${text}`);
      const id = ids.of(given.id, hash, 0);
      const { metadata } = given;
      return {
        id,
        documentId: given.id,
        ordinal,
        start,
        end,
        text,
        embeddedText: text,
        tokens: 250,
        hash,
        metadata,
      };
    });
    const vectors = chunks.map(({ ordinal }) =>
      Float32Array.from({ length: width }, (_, i) => Math.sin(at * 0.7 + ordinal + i * 1.3)),
    );
    return {
      kind: 'store',
      given,
      documentId: given.id,
      source: 'bench',
      version,
      contentHash: textHash(given.text),
      chainDigest: 'bench',
      chunks,
      spaces: [{ space: '*', vectors }],
    };
  });
}
