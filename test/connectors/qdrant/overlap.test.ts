import { expect, it } from 'vitest';
import { createPortStore } from '../../../connectors/qdrant/port-store.js';
import { qdrantConfig } from '../../../connectors/qdrant/config.js';
import type { QdrantPort } from '../../../connectors/qdrant/port.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { countTerms } from '../../../src/transforms/terms/count-terms.js';
import { createEngine } from '../../support/qdrant/engine.js';
import { createEnginePort } from '../../support/qdrant/engine-port.js';
import { testContext } from '../../support/test-context.js';
import { layout, space, storing, vectorOf } from '../../suites/store-samples.js';

const config = qdrantConfig.parse({ url: 'http://double' });

it('gives a chunk once while its document is being replaced, by vectors and by words', async () => {
  const port = createEnginePort(createEngine());
  const store = createPortStore(port, config, testContext('overlap'));
  await store.prepare({ ...layout, terms: true });
  const write = (position: number, ...texts: string[]) => {
    const one = storing('a', position, texts);
    return { ...one, chunks: one.chunks.map((chunk) => ({ ...chunk, terms: countTerms(chunk.text) })) };
  };
  await store.sink.write([write(1, 'one', 'two')]);
  // A writer that is killed after it showed its chunks and before it removed the old ones.
  const killed: QdrantPort = {
    ...port,
    update: async (collection, updates, signal) => {
      await port.update(collection, updates.slice(0, 1), signal);
      throw new MillraceError('store_unavailable', 'killed');
    },
  };
  const writer = createPortStore(killed, config, testContext('overlap'));
  await expect(writer.sink.write([write(2, 'zero', 'one', 'two')])).rejects.toMatchObject({
    code: 'store_unavailable',
  });
  expect(await store.count()).toMatchObject({ chunks: 5 });

  const hits = await store.search.search({ space, vector: vectorOf('q'), k: 10 });
  expect(hits.map(({ text, ordinal }) => `${ordinal} ${text}`).sort()).toEqual(['0 zero', '1 one', '2 two']);
  const query = { terms: countTerms('one two'), k: 10, k1: 1.2, b: 0.75 };
  expect((await store.search.searchTerms!(query)).map(({ ordinal }) => ordinal).sort()).toEqual([1, 2]);
  const [whole] = await store.search.chunks([{ documentId: 'a', first: 0, last: 9 }]);
  expect(whole!.map(({ text }) => text)).toEqual(['zero', 'one', 'two']);
  // Whoever looks at the document next ends what was begun.
  expect((await store.sink.ledger(['a'])).get('a')).toMatchObject({ chunkCount: 3 });
  expect(await store.count()).toMatchObject({ chunks: 3 });
});
