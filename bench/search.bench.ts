import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPgliteStore } from '../connectors/postgres/pglite-store.js';
import { createPostgresStore } from '../connectors/postgres/postgres-store.js';
import { buildIndex } from '../connectors/postgres/build-index.js';
import { pgliteConfig, postgresConfig, type PostgresConfig } from '../connectors/postgres/config.js';
import { indexName } from '../connectors/postgres/index-name.js';
import { tableNames } from '../connectors/postgres/names.js';
import { openPgConnection } from '../connectors/postgres/pg-connection.js';
import { termsIndexPlan } from '../connectors/postgres/terms-index.js';
import type { StoreWrite } from '../src/contracts/sink.js';
import type { Store } from '../src/contracts/store.js';
import { textHash } from '../src/elements/hash.js';
import { ChunkIds } from '../src/elements/ids.js';
import { versionOf } from '../src/elements/version.js';
import { countTerms } from '../src/transforms/terms/count-terms.js';
import { defaultSparse } from '../src/transforms/terms/sparse-schema.js';
import { startPostgres } from '../test/support/services/postgres.js';
import { seededRandom } from '../test/support/seeded-random.js';
import { testContext } from '../test/support/test-context.js';
import type { Benchmark, Figure } from './figure.js';
import { median } from './median.js';

const space = '*';
const width = 384;
const words = { each: 150, vocabulary: 50_000 };
const perDocument = 10;
/** `MILLRACE_BENCH_CHUNKS=500000` for more of them on the server. */
const onServer = Number(process.env['MILLRACE_BENCH_CHUNKS'] ?? 100_000);
const rounds = 7;

/** Words by their rank in a language, the most frequent first. */
const questions = {
  'one rare word': 'w30000',
  'a question': 'w0 w1 w2 w5 w40 w300 w5000 w30000',
};

/** What a search takes that reads all chunks: by vectors, and by words; and one by words with their index. */
export const search: Benchmark = {
  about: 'exact search by vectors and search by words, Postgres and PGlite; by words with their index',
  async *run(say) {
    const server = await startPostgres({ shared_buffers: '512MB' });
    const folder = await mkdtemp(join(tmpdir(), 'millrace-search-'));
    try {
      const config = postgresConfig.parse({ url: server.url, index: 'off' });
      yield* measured('postgres', onServer, await createPostgresStore(config, testContext('bench')), say);
      yield* measuredIndexed(config, onServer);
      const own = await createPgliteStore(
        pgliteConfig.parse({ path: 'store', index: 'off' }),
        testContext('bench', folder),
      );
      yield* measured('pglite', 20_000, own, say);
    } finally {
      await server.stop();
      await rm(folder, { recursive: true });
    }
  },
};

async function* measured(
  name: string,
  chunks: number,
  store: Store,
  say: (line: string) => void,
): AsyncGenerator<Figure> {
  try {
    await store.prepare({ spaces: [{ name: space, width }], terms: true });
    const random = seededRandom(5);
    for (let at = 0; at < chunks / perDocument; at += 64) {
      const count = Math.min(64, chunks / perDocument - at);
      await store.sink.write(Array.from({ length: count }, (_, n) => write(`d${at + n}`, random)));
    }
    await store.tune();
    say(`${name}: ${chunks} chunks are in`);
    const vector = vectorOf(random);
    yield* timed(`search/${name}/${chunks} chunks`, {
      vectors: () => store.search.search({ space, vector, k: 10 }),
      ...byWords(store),
    });
  } finally {
    await store.close();
  }
}

/** The same words, through their index alone: that of the vectors would take minutes to build. */
async function* measuredIndexed(config: PostgresConfig, chunks: number): AsyncGenerator<Figure> {
  const context = testContext('bench');
  const connection = openPgConnection(config, context);
  const store = await createPostgresStore(config, context);
  try {
    const [names, index] = [tableNames(config.schema), indexName('words', 'bench', 1)];
    const plan = termsIndexPlan(names, 'bench', index);
    const began = performance.now();
    await buildIndex(connection, names, 'bench', plan, {
      concurrently: true,
      ...context,
    });
    const name = `search/postgres/${chunks} chunks, indexed`;
    yield { name: `${name}/build`, value: Math.round((performance.now() - began) / 1000), unit: 's' };
    // As the store does.
    await connection.query({ text: `vacuum ${names.chunks}` });
    const text =
      'select pg_relation_size(to_regclass($1))::float8 as index, pg_table_size(to_regclass($2))::float8 as chunks';
    const [room] = await connection.query({ text, values: [`${names.schema}.${index}`, names.chunks] });
    for (const [of, bytes] of Object.entries(room!))
      yield {
        name: `${name}/room of ${of === 'index' ? 'the index' : 'the chunks'}`,
        value: Math.round((bytes as number) / 1e6),
        unit: 'MB',
      };
    yield* timed(name, byWords(store));
  } finally {
    await store.close();
    await connection.close();
  }
}

type Asked = Readonly<Record<string, () => Promise<readonly unknown[]>>>;

function byWords(store: Store): Asked {
  const ask = (text: string) => () =>
    store.search.searchTerms!({ terms: countTerms(text), k: 10, ...defaultSparse.bm25 });
  return Object.fromEntries(Object.entries(questions).map(([kind, text]) => [`words, ${kind}`, ask(text)]));
}

async function* timed(name: string, asked: Asked): AsyncGenerator<Figure> {
  const times = new Map(Object.keys(asked).map((kind) => [kind, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1)
    for (const [kind, ask] of Object.entries(asked)) {
      const began = performance.now();
      if ((await ask()).length === 0) throw new Error(`${kind}: nothing was found`);
      // The first round warms up.
      if (round > 0) times.get(kind)!.push(performance.now() - began);
    }
  for (const [kind, taken] of times)
    yield { name: `${name}/${kind}`, value: Math.round(median(taken)), unit: 'ms' };
}

function vectorOf(random: () => number): Float32Array {
  return Float32Array.from({ length: width }, () => random() - 0.5);
}

/** Words as often as in a language: the n-th most frequent one n times as rare as the first (Zipf). */
function textOf(random: () => number): string {
  const word = () => `w${Math.floor(words.vocabulary ** random()) - 1}`;
  return Array.from({ length: words.each }, word).join(' ');
}

function write(documentId: string, random: () => number): StoreWrite {
  const ids = new ChunkIds('bench');
  const texts = Array.from({ length: perDocument }, () => textOf(random));
  return {
    kind: 'store',
    given: undefined,
    documentId,
    source: 'bench',
    version: versionOf(0, 1n),
    contentHash: textHash(texts.join()),
    chainDigest: 'bench',
    chunks: texts.map((text, ordinal) => {
      const [hash, start] = [textHash(text), ordinal * 2000];
      const terms = countTerms(text);
      const place = { documentId, ordinal, start, end: start + text.length };
      return {
        id: ids.of(documentId, hash, 0),
        ...place,
        text,
        embeddedText: text,
        tokens: words.each,
        hash,
        metadata: {},
        terms,
      };
    }),
    spaces: [{ space, vectors: texts.map(() => vectorOf(random)) }],
  };
}
