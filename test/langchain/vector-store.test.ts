import { VectorStore } from '@langchain/core/vectorstores';
import { StringOutputParser } from '@langchain/core/output_parsers';
import { RunnableLambda } from '@langchain/core/runnables';
import { expect, test } from 'vitest';
import { langchainVectorStore } from '../../src/langchain/vector-store.js';
import { createDocument } from '../../src/elements/document.js';
import { logOf, usePglite, version } from '../promises/bed.js';

const openBed = usePglite();

const input = {
  chain: [
    { chunk: { recursive: { maxTokens: 24 } } },
    { sparse: { bm25: {} } },
    { embed: { static: { model: 'bundled' } } },
  ],
} as const;

async function filled() {
  const bed = await openBed();
  const texts = {
    ants: ['Ants live in colonies.', 2020],
    bees: ['Bees make honey.', 2024],
    cows: ['Cows give milk; their number is E42.', 2024],
  } as const;
  const documents = Object.entries(texts).map(([id, [text, year]]) =>
    createDocument({ id, text, metadata: { year }, version: version(1) }),
  );
  await bed.run({ source: logOf(documents), input: { chain: [...input.chain] } });
  return bed.retriever({ chain: [...input.chain] });
}

test('LangChain asks a store that Millrace filled, with filters, and gets documents with where they come from', async () => {
  const retriever = await filled();
  const store = langchainVectorStore(retriever);
  expect(store).toBeInstanceOf(VectorStore);
  const [best] = await store.similaritySearch('Who makes honey?', 1);
  expect(best).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    pageContent: 'Bees make honey.',
    metadata: {
      year: 2024,
      millrace: { documentId: 'bees', ordinal: 0, start: 0, end: 16, scoreKind: 'cosine', mode: 'dense' },
    },
  });
  const early = await store.similaritySearchWithScore('Who makes honey?', 5, { year: { $lt: 2024 } });
  expect(early.map(([{ metadata }, score]) => [metadata['millrace'].documentId, score])).toEqual([
    ['ants', early[0]![0].metadata['millrace'].score],
  ]);
  await retriever.close();
});

test('as a retriever of LangChain it stands in a chain, and options hold for every question', async () => {
  const retriever = await filled();
  const byWords = langchainVectorStore(retriever, { mode: 'sparse', neighbours: 1 }).asRetriever({ k: 2 });
  const chain = byWords
    .pipe(
      RunnableLambda.from((documents: { pageContent: string }[]) =>
        documents.map((one) => one.pageContent).join('|'),
      ),
    )
    .pipe(new StringOutputParser());
  expect(await chain.invoke('e42')).toBe('Cows give milk; their number is E42.');
  await retriever.close();
});

test('what would break the store or its spaces is refused with what to do', async () => {
  const retriever = await filled();
  const store = langchainVectorStore(retriever);
  const refused = { code: 'config_invalid' };
  await expect(store.addDocuments()).rejects.toMatchObject(refused);
  await expect(store.addVectors()).rejects.toMatchObject(refused);
  await expect(store.similaritySearchVectorWithScore()).rejects.toMatchObject(refused);
  await expect(store.embeddings.embedQuery('text')).rejects.toMatchObject(refused);
  await expect(store.similaritySearch('text', 3, { year: { $near: 1 } } as never)).rejects.toMatchObject(
    refused,
  );
  await retriever.close();
});
