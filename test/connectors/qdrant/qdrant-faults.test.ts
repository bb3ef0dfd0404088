import { afterEach, describe, expect, it } from 'vitest';
import { qdrantConfig } from '../../../connectors/qdrant/config.js';
import { createQdrantStore } from '../../../connectors/qdrant/qdrant-store.js';
import type { ConnectorContext } from '../../../src/contracts/context.js';
import type { Store } from '../../../src/contracts/store.js';
import { readFilter } from '../../../src/elements/filter/read-filter.js';
import { serveQdrant, type QdrantOptions, type QdrantServer } from '../../support/qdrant/server.js';
import { testContext } from '../../support/test-context.js';
import {
  codeOf,
  deleting,
  kinds,
  layout,
  layoutOf,
  space,
  storing,
  textsOf,
  vectorOf,
} from '../../suites/store-samples.js';

const doubles: QdrantServer[] = [];
afterEach(async () => {
  await Promise.all(doubles.splice(0).map((double) => double.close()));
});

interface Opened {
  readonly double: QdrantServer;
  readonly store: Store;
  /** How long was slept, in milliseconds. */
  readonly slept: readonly number[];
  /** Another store over the same server. */
  again(more?: object): Promise<Store>;
  /** A request of somebody else. */
  ask(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
}

/** A store on a double; sleeping takes no time. */
async function open(options: QdrantOptions = {}, config: object = {}): Promise<Opened> {
  const double = await serveQdrant(options);
  doubles.push(double);
  const slept: number[] = [];
  const context: ConnectorContext = {
    ...testContext('faults'),
    clock: {
      now: () => 0,
      sleep: async (ms, signal) => {
        slept.push(ms);
        signal?.throwIfAborted();
      },
    },
  };
  const again = (more: object = {}) =>
    createQdrantStore(qdrantConfig.parse({ url: double.url, ...config, ...more }), context);
  return {
    double,
    store: await again(),
    slept,
    again,
    ask: async (method, path, body) => {
      const response = await fetch(double.url + path, {
        method,
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      });
      return (await response.json()) as Record<string, unknown>;
    },
  };
}

async function prepared(options?: QdrantOptions, config?: object): Promise<Opened> {
  const opened = await open(options, config);
  await opened.store.prepare(layout);
  return opened;
}

const chunks = '/collections/millrace_faults';
const upload = `PUT ${chunks}/points$`;
const commit = `PUT ${chunks}_ledger/points$`;
const show = `POST ${chunks}/points/batch$`;
const settled = `POST ${chunks}_ledger/points/batch$`;

describe('size', () => {
  it('refuses alone a document with a chunk that no request can hold, and says how large it is', async () => {
    const { store, double } = await prepared({}, { maxRequestMb: 0.1 });
    const writes = Array.from({ length: 101 }, (_, at) =>
      storing(`d-${at}`, 1, [`text ${at}`], at === 50 ? { metadata: { blob: 'x'.repeat(200_000) } } : {}),
    );
    const results = await store.sink.write(writes);
    expect(results.filter(({ kind }) => kind === 'done')).toHaveLength(100);
    expect(results[50]).toMatchObject({
      kind: 'refused',
      error: { code: 'store_refused', message: expect.stringContaining('0.2 MB') as string },
    });
    expect(double.counts().largest).toBeLessThanOrEqual(100_000);
  });

  it('finds the document that a server with a lower limit refuses, and writes the others', async () => {
    const { store } = await prepared({ maxBytes: 50_000 });
    const writes = Array.from({ length: 20 }, (_, at) =>
      storing(
        `d-${at}`,
        1,
        [`text ${at}`, 'more'],
        at === 7 ? { metadata: { blob: 'x'.repeat(60_000) } } : {},
      ),
    );
    const results = await store.sink.write(writes);
    expect(results.map(codeOf).filter((code) => code !== undefined)).toEqual(['store_refused']);
    expect(codeOf(results[7])).toBe('store_refused');
    expect(await store.count()).toEqual({ documents: 19, chunks: 38 });
  });
});

describe('identity', () => {
  it('tells documents apart whose ids are numbers beyond 2^53', async () => {
    const { store } = await prepared();
    const ids = ['9007199254740992', '9007199254740993', '13570027672830659665'];
    await store.sink.write(ids.map((id) => storing(id, 1, [`text of ${id}`])));
    for (const id of ids) expect(await textsOf(store, id)).toEqual([`text of ${id}`]);
    await store.sink.write([deleting(ids[1]!, 2)]);
    expect(await textsOf(store, ids[0]!)).toEqual([`text of ${ids[0]}`]);
    expect(await textsOf(store, ids[1]!)).toEqual([]);
  });

  it.each([
    ['one vector without a name', { vectors: { size: 4, distance: 'Cosine' } }],
    ['vectors of another name', { vectors: { text: { size: 4, distance: 'Cosine' } } }],
    ['vectors compared otherwise', { vectors: { _2a: { size: 4, distance: 'Dot' } } }],
  ])('refuses to start on a collection that holds %s', async (_, body) => {
    const { store, ask } = await open();
    await ask('PUT', chunks, body);
    await expect(store.prepare(layoutOf(4))).rejects.toMatchObject({
      code: 'store_layout',
      hint: expect.stringContaining('prefix') as string,
    });
  });
});

describe('server', () => {
  it('refuses one that cannot update on a condition', async () => {
    const { store } = await open({ version: '1.15.5' });
    const refused = { code: 'config_invalid', hint: expect.stringContaining('1.16') as string };
    await expect(store.prepare(layout)).rejects.toMatchObject(refused);
    await expect(store.count()).rejects.toMatchObject(refused);
  });

  it('says what is wrong when the key is missing, and keeps the key to itself', async () => {
    const { store, again } = await open({ apiKey: 'right-key' }, { apiKey: 'wrong-key' });
    const failed = store.prepare(layout);
    await expect(failed).rejects.toMatchObject({ code: 'store_unavailable', hint: 'Check `apiKey`.' });
    const error: unknown = await failed.catch((thrown: unknown) => thrown);
    expect(JSON.stringify([String(error), String((error as Error).cause)])).not.toContain('wrong-key');
    const right = await again({ apiKey: 'right-key' });
    await right.prepare(layout);
    expect(kinds(await right.sink.write([storing('a', 1, ['one'])]))).toEqual(['done']);
  });

  it('warns of a key that goes over the network in the clear', async () => {
    const warned = async (url: string) => {
      const context = testContext('faults');
      await createQdrantStore(qdrantConfig.parse({ url, apiKey: 'k' }), context);
      return context.notices.map(({ code }) => code);
    };
    expect(await warned('http://10.0.0.1:6333')).toEqual(['store_insecure']);
    expect(await warned('https://10.0.0.1:6333')).toEqual([]);
    expect(await warned('http://127.0.0.1:6333')).toEqual([]);
  });

  it('tells of one that is not there with the cause beneath', async () => {
    const { store, double } = await open();
    await double.close();
    doubles.pop();
    await expect(store.prepare(layout)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
  });

  it('waits for a collection that another process is just making', async () => {
    const { store, double } = await open();
    double.fail(
      { on: `PUT ${chunks}$`, kind: 'status', status: 409, applied: true },
      { on: `GET ${chunks}$`, kind: 'status', status: 404, times: 2 },
      { on: `GET ${chunks}$`, kind: 'status', status: 500, times: 4 },
    );
    await store.prepare(layout);
    expect(kinds(await store.sink.write([storing('a', 1, ['one'])]))).toEqual(['done']);
  });
});

describe('requests', { timeout: 60_000 }, () => {
  it('are few at once however many writes there are, also where idle connections are closed', async () => {
    const { store, double } = await prepared(
      { maxConnections: 10, keepAliveMs: 50, delayMs: 1 },
      { connections: 6 },
    );
    const writes = Array.from({ length: 60 }, (_, at) => store.sink.write([storing(`d-${at}`, 1, ['one'])]));
    expect((await Promise.all(writes)).flatMap(kinds)).toEqual(writes.map(() => 'done'));
    expect(double.counts().mostOpen).toBeLessThanOrEqual(6);
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(kinds(await store.sink.write([storing('later', 1, ['one'])]))).toEqual(['done']);
  });

  it('wait as long as the server asks for', async () => {
    const { store, double, slept } = await prepared();
    double.fail({ on: commit, kind: 'status', status: 429, retryAfter: '7' });
    expect(kinds(await store.sink.write([storing('a', 1, ['one'])]))).toEqual(['done']);
    expect(slept).toEqual([7000]);
  });

  it('end at their time, or at once when the signal aborts', async () => {
    const { store, double } = await prepared({}, { timeout: 1 });
    double.fail({ on: upload, kind: 'hang' });
    await expect(store.sink.write([storing('a', 1, ['one'])])).rejects.toMatchObject({
      code: 'store_unavailable',
      hint: expect.stringContaining('timeout') as string,
    });
    const slow = await open({}, { timeout: 60 });
    await slow.store.prepare(layout);
    slow.double.fail({ on: upload, kind: 'hang' });
    const stop = new AbortController();
    const writing = slow.store.sink.write([storing('a', 1, ['one'])], stop.signal);
    setTimeout(() => stop.abort(new Error('stop')), 50);
    await expect(writing).rejects.toThrow('stop');
  });

  it.each([
    ['acknowledged', true],
    ['acknowledged', false],
    ['wait_timeout', true],
    ['wait_timeout', false],
  ] as const)('with chunks count only when they are completed: %s, in effect: %s', async (kind, applied) => {
    const { store, double } = await prepared();
    await store.sink.write([storing('a', 1, ['one'])]);
    double.fail({ on: upload, kind, applied });
    await expect(store.sink.write([storing('a', 2, ['two'])])).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    expect(await textsOf(store, 'a')).toEqual(['one']);
    expect(kinds(await store.sink.write([storing('a', 2, ['two'])]))).toEqual(['done']);
    expect(await textsOf(store, 'a')).toEqual(['two']);
  });

  it.each(
    [upload, commit, show, settled].flatMap((on) => [
      { on, kind: 'cut', applied: true } as const,
      { on, kind: 'cut', applied: false } as const,
      { on, kind: 'status', status: 500, applied: true } as const,
      { on, kind: 'acknowledged', applied: false } as const,
    ]),
  )('may fail anywhere, and the same call made again brings the write: $on $kind $applied', async (fault) => {
    const { store, double } = await prepared();
    await store.sink.write([storing('a', 1, ['one', 'two'])]);
    double.fail({ ...fault, times: 9 });
    const write = storing('a', 2, ['two', 'three']);
    await expect(store.sink.write([write])).rejects.toMatchObject({ code: 'store_unavailable' });
    const seen = await textsOf(store, 'a');
    expect(seen.includes('one') || seen.includes('three')).toBe(true);
    double.forgive();
    const [result] = await store.sink.write([write]);
    expect(['done', 'stale']).toContain(result!.kind);
    expect(await textsOf(store, 'a')).toEqual(['two', 'three']);
    await store.tune();
    expect(await store.count()).toEqual({ documents: 1, chunks: 2 });
  });
});

describe('first fill', () => {
  const threshold = async (ask: Opened['ask']) => {
    const { result } = await ask('GET', chunks);
    return (result as { config: { optimizer_config: { indexing_threshold: number } } }).config
      .optimizer_config.indexing_threshold;
  };

  it('goes in without an index, which is made and waited for afterwards, once', async () => {
    const { store, ask, slept, again } = await prepared({}, { indexFrom: 5000 });
    expect(await threshold(ask)).toBe(0);
    await store.sink.write([storing('a', 1, ['one'])]);
    const other = await again();
    await other.prepare(layout);
    expect(await threshold(ask)).toBe(0);
    await store.tune();
    expect(await threshold(ask)).toBe(5000);
    // The double waits for another change, and then says twice that it is at it.
    expect(slept).toEqual([500, 500, 500]);
    const changed = await again({ indexFrom: 7000 });
    await changed.prepare(layout);
    expect(await threshold(ask)).toBe(7000);
  });

  it.each([`PATCH ${chunks}`, `GET ${chunks}$`, `PUT ${chunks}_artifacts/points`])(
    'is ended by the next process when this one ends within: %s',
    async (on) => {
      const { store, double, ask, again } = await prepared();
      await store.sink.write([storing('a', 1, ['one'])]);
      double.fail({ on, kind: 'cut', times: 9 });
      await expect(store.tune()).rejects.toMatchObject({ code: 'store_unavailable' });
      double.forgive();
      const next = await again();
      await next.prepare(layout);
      await next.tune();
      expect(await threshold(ask)).toBe(10_000);
      expect(await next.artifacts.read('first-fill')).toBe('over');
    },
  );
});

it('indexes the tenant and the fields that filters use before the first chunk', async () => {
  const { store, ask } = await prepared(
    {},
    { tenant: 'org.id', indexes: { year: 'number', lang: 'keyword' } },
  );
  // The retriever asks for one of them by this field.
  expect(store.tenant).toEqual(['org', 'id']);
  const { result } = await ask('GET', chunks);
  expect((result as { payload_schema: object }).payload_schema).toMatchObject({
    doc: { type: 'uuid' },
    live: { type: 'bool' },
    'metadata."org"."id"': { type: 'keyword', is_tenant: true },
    'metadata."year"': { type: 'float' },
    'metadata."lang"': { type: 'keyword' },
  });
  await store.sink.write([
    storing('a', 1, ['one'], { metadata: { org: { id: 'x' }, year: 2024 } }),
    storing('b', 1, ['two'], { metadata: { org: { id: 'y' }, year: 2024 } }),
  ]);
  const filter = readFilter({ 'org.id': 'x', year: { $gte: 2024 } });
  const hits = await store.search.search({ space, vector: vectorOf('q'), k: 5, filter });
  expect(hits.map(({ text }) => text)).toEqual(['one']);
});
