import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { QdrantClient } from '@qdrant/js-client-rest';
import { chunkPoints } from '../connectors/qdrant/chunk-points.js';
import { qdrantConfig } from '../connectors/qdrant/config.js';
import { entryAfter } from '../connectors/qdrant/judge.js';
import { ledgerPayload } from '../connectors/qdrant/ledger.js';
import { collectionNames, documentKey, newWriteId } from '../connectors/qdrant/names.js';
import { createQdrantStore } from '../connectors/qdrant/qdrant-store.js';
import type { StoreWrite } from '../src/contracts/sink.js';
import type { Store } from '../src/contracts/store.js';
import { startQdrant, type QdrantDouble } from '../test/support/qdrant/start.js';
import { testContext } from '../test/support/test-context.js';
import type { Figure } from './figure.js';
import { median } from './median.js';
import { batchesOf, documents as rowsOf, width } from './sink-rows.js';

const batch = 512;
const documents = 8 * batch;
const underWay = 2;
const rounds = 3;

/**
 * Writes into Qdrant. Where `QDRANT_URL` names a server: the first fill against a bare loop that posts the same points
 * to the same collections. Else what goes over the wire, to a double that says nothing of speed.
 */
export async function* qdrantSink(say: (line: string) => void): AsyncGenerator<Figure> {
  const url = process.env['QDRANT_URL'];
  if (url !== undefined) return yield* firstFill(url, say);
  const double = await startQdrant();
  try {
    const store = await prepared(double.url, 'bench', 'traffic');
    for (const [what, edition] of [
      ['upsert', 0],
      ['replace', 1],
    ] as const)
      yield* traffic(`sinks/qdrant/${what}`, double, () =>
        writeAll(rowsOf('traffic', 0, documents, edition), ours(store)),
      );
    await store.close();
  } finally {
    await double.close();
  }
}

async function* traffic(
  name: string,
  double: QdrantDouble,
  work: () => Promise<void>,
): AsyncGenerator<Figure> {
  const before = await double.counts();
  await work();
  const after = await double.counts();
  const per = (before: number, after: number) => Math.round(((after - before) / documents) * 1000) / 1000;
  yield {
    name: `${name}/requests`,
    value: per(before.requests, after.requests),
    unit: 'requests a document',
  };
  yield { name: `${name}/bytes`, value: per(before.bytes, after.bytes), unit: 'bytes a document' };
}

async function* firstFill(url: string, say: (line: string) => void): AsyncGenerator<Figure> {
  const prefix = `bench-${randomBytes(4).toString('hex')}`;
  const client = new QdrantClient({ url, checkCompatibility: false });
  const made: string[] = [];
  const seconds = { ours: [] as number[], bare: [] as number[] };
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const side of round % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const)) {
        const pipeline = `${side}${round}`;
        made.push(pipeline);
        const rows = rowsOf(pipeline, 0, documents);
        const store = await prepared(url, prefix, pipeline);
        const began = performance.now();
        await writeAll(rows, side === 'ours' ? ours(store) : bare(client, prefix, pipeline));
        seconds[side].push((performance.now() - began) / 1000);
        await store.close();
      }
      say(
        `qdrant/first-fill, round ${round + 1} of ${rounds}: ${seconds.ours[round]!.toFixed(2)} s, bare ${seconds.bare[round]!.toFixed(2)} s`,
      );
    }
  } finally {
    for (const pipeline of made)
      for (const name of Object.values(collectionNames(prefix, pipeline)) as string[])
        await client.deleteCollection(name);
  }
  for (const side of ['ours', 'bare'] as const)
    yield {
      name: `sinks/qdrant/first-fill/${side}`,
      value: Math.round(documents / median(seconds[side])),
      unit: 'documents/s',
    };
  const ratio = median(seconds.ours.map((own, round) => seconds.bare[round]! / own));
  yield {
    name: 'sinks/qdrant/first-fill/ratio',
    value: Math.round(ratio * 1000) / 1000,
    unit: 'of the bare loop',
    bar: 0.8,
    better: 'higher',
  };
}

type Write = (writes: readonly StoreWrite[]) => Promise<void>;

async function prepared(url: string, prefix: string, pipeline: string): Promise<Store> {
  const store = await createQdrantStore(qdrantConfig.parse({ url, prefix }), testContext(pipeline));
  await store.prepare({ spaces: [{ name: '*', width }] });
  return store;
}

function ours(store: Store): Write {
  return async (writes) => {
    const results = await store.sink.write(writes);
    if (results.some(({ kind }) => kind !== 'done')) throw new Error('A document was not written.');
  };
}

/** The same points and the same ledger, seen at once and whatever is there. */
function bare(client: QdrantClient, prefix: string, pipeline: string): Write {
  const names = collectionNames(prefix, pipeline);
  return async (writes) => {
    const keyed = writes.map((write) => ({
      write,
      id: documentKey(pipeline, write.documentId),
      writeId: newWriteId(),
    }));
    const points = keyed.flatMap(({ write, id, writeId }) =>
      chunkPoints(write, { doc: id, writeId, seq: 1 }, new Map()).map(({ point }) => point),
    );
    await client.upsert(names.chunks, { wait: true, points: points as never });
    const ledger = keyed.map(({ write, id, writeId }) => ({
      id,
      vector: {},
      payload: ledgerPayload({
        entry: entryAfter(write, undefined),
        writeId,
        seq: 1,
        settled: true,
        text: undefined,
      }),
    }));
    await client.upsert(names.ledger, { wait: true, points: ledger as never });
  };
}

async function writeAll(rows: readonly StoreWrite[], write: Write): Promise<void> {
  const waiting = batchesOf(rows, batch);
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await write(next);
  };
  await Promise.all(Array.from({ length: underWay }, worker));
}
