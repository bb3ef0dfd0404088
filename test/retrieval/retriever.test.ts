import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { PipelineInput } from '../../src/config/schema.js';
import { createDocument } from '../../src/elements/document.js';
import type { Retriever } from '../../src/retrieval/retriever.js';
import { document, logOf, paragraphs, smallChunks, usePglite, version } from '../promises/bed.js';
import { ownEmbedding } from '../support/own-embedding.js';

const openBed = usePglite();

async function filled(
  texts: Readonly<Record<string, string>>,
  input: Partial<PipelineInput> = smallChunks,
): Promise<Retriever> {
  const bed = await openBed();
  const source = logOf(Object.entries(texts).map(([id, text]) => document(id, 1, text)));
  await bed.run({ source, input });
  return bed.retriever(input);
}

test('hits say what their score is, and a threshold leaves out what is less similar', async () => {
  const retriever = await filled({ ants: 'Ants live in colonies.', bees: 'Bees make honey.' });
  const hits = await retriever.retrieve('Who makes honey?');
  expect(hits.map(({ documentId, scoreKind }) => [documentId, scoreKind])).toEqual([
    ['bees', 'cosine'],
    ['ants', 'cosine'],
  ]);
  const threshold = (hits[0]!.score + hits[1]!.score) / 2;
  const above = await retriever.retrieve('Who makes honey?', { threshold });
  expect(above.map(({ documentId }) => documentId)).toEqual(['bees']);
  expect(await retriever.retrieve('Who makes honey?', { threshold: 1 })).toEqual([]);
  await retriever.close();
});

test('a question can be given up while its model does not answer', async () => {
  let deaf = false;
  const own = ownEmbedding({
    name: 'deaf',
    before: () => (deaf ? new Promise<void>(() => undefined) : undefined),
  });
  const retriever = await filled(
    { ants: 'Ants live in colonies.' },
    { chain: [{ chunk: { markdown: {} } }, { embed: { own } }] },
  );
  expect(await retriever.retrieve('Who lives in colonies?')).toHaveLength(1);
  deaf = true;
  const asked = retriever.retrieve('Who lives in colonies?', { signal: AbortSignal.timeout(50) });
  const inTime = Promise.race([asked, sleep(20_000).then(() => 'it waits')]);
  await expect(inTime).rejects.toMatchObject({ name: 'TimeoutError' });
  await retriever.close();
});

test('a hit comes with its neighbours as one passage, at the ends of a document with fewer', async () => {
  const pages = paragraphs(7);
  const text = pages.join('\n\n');
  const retriever = await filled({ book: text, other: 'Something else.' });
  const [hit] = await retriever.retrieve('subject 3', { k: 1, neighbours: 1 });
  expect(hit).toMatchObject({
    text: pages[3],
    passage: { documentId: 'book', text: pages.slice(2, 5).join('\n\n') },
  });
  expect(text.slice(hit!.passage!.start, hit!.passage!.end)).toBe(hit!.passage!.text);
  const [first] = await retriever.retrieve('subject 0', { k: 1, neighbours: 2 });
  expect(first!.passage!.chunks.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
  const [alone] = await retriever.retrieve('subject 5', { k: 1, neighbours: 0 });
  expect(alone!.passage!.text).toBe(pages[5]);
  await retriever.close();
});

test('a whole document is given as it was, and none that is not there', async () => {
  const text = paragraphs(5).join('\n\n');
  const retriever = await filled({ book: text, other: 'Something else.' });
  expect(await retriever.document('book')).toMatchObject({
    documentId: 'book',
    start: 0,
    end: text.length,
    text,
  });
  expect(await retriever.document('nothing')).toBeUndefined();
  await retriever.close();
});

const withWords: Partial<PipelineInput> = {
  chain: [
    { chunk: { markdown: { maxTokens: 40, headingPrefix: true } } },
    { sparse: { bm25: { b: 0.5 } } },
    { embed: { static: { model: 'bundled' } } },
  ],
};

const manual = {
  pump: '# Pump\n\nError E1234 tells that the pump runs dry.',
  valve: '# Valve\n\nError E7300 tells that the valve is stuck.',
  tank: '# Tank\n\nThe tank holds eighty litres of water.',
};

test('a store with words is asked by vectors, by words, or by both, and hits say how they were found', async () => {
  const retriever = await filled(manual, withWords);
  const ask = async (text: string, mode?: 'dense' | 'sparse' | 'hybrid') => {
    const hits = await retriever.retrieve(text, mode && { mode });
    return hits.map(({ documentId, scoreKind, mode: found }) => [documentId, scoreKind, found]);
  };
  expect(await ask('e7300', 'sparse')).toEqual([['valve', 'bm25', 'sparse']]);
  // By its heading, which is no part of its text here but of what is embedded.
  expect(await ask('VALVE', 'sparse')).toEqual([['valve', 'bm25', 'sparse']]);
  expect((await ask('e7300', 'dense')).map(([, ...how]) => how)).toEqual(
    Array.from({ length: 3 }, () => ['cosine', 'dense']),
  );
  expect((await ask('e7300')).map(([, ...how]) => how)[0]).toEqual(['cosine', 'dense']);
  const hybrid = await ask('E7300: how much does it hold?', 'hybrid');
  expect(hybrid).toHaveLength(3);
  expect(hybrid[0]!.slice(1)).toEqual(['rank', 'hybrid']);
  const [first] = await retriever.retrieve('litres of water', { mode: 'hybrid', neighbours: 0 });
  expect(first).toMatchObject({ documentId: 'tank', passage: { text: manual.tank } });
  expect(first!.score).toBeCloseTo(2 / 61, 10);
  await retriever.close();
});

test('a route is asked for its words too, and a filter and a count hold in every mode', async () => {
  const routed: Partial<PipelineInput> = {
    chain: [
      { chunk: { recursive: { maxTokens: 24 } } },
      { sparse: { bm25: {} } },
      {
        embed: {
          route: 'metadata.lang',
          models: {
            en: { static: { model: 'bundled' } },
            de: { static: { model: 'bundled', prompts: { document: 'deutsch: ', query: 'deutsch: ' } } },
          },
        },
      },
    ],
  };
  const bed = await openBed();
  const documents = ['en', 'de', 'en', 'de'].map((lang, at) =>
    createDocument({
      id: `${lang}${at}`,
      text: `Radio number ${at}`,
      metadata: { lang, at },
      version: version(1),
    }),
  );
  await bed.run({ source: logOf(documents), input: routed });
  const retriever = await bed.retriever(routed);
  for (const mode of ['sparse', 'hybrid'] as const) {
    const ids = async (options: object) =>
      (await retriever.retrieve('radio', { mode, ...options })).map(({ documentId }) => documentId).sort();
    expect(await ids({})).toEqual(['de1', 'de3', 'en0', 'en2']);
    expect(await ids({ route: 'de' })).toEqual(['de1', 'de3']);
    expect(await ids({ filter: { at: { $gte: 2 } } })).toEqual(['de3', 'en2']);
    expect(await ids({ k: 1 })).toHaveLength(1);
  }
  await retriever.close();
});

test('words are as current as the documents, also where vectors are kept', async () => {
  const bed = await openBed();
  const of = (text: string, position: number) => logOf([document('a', position, text)]);
  await bed.run({ source: of('# One\n\nRed apples.\n\n# Two\n\nGreen pears.', 1), input: withWords });
  const summary = await bed.run({
    source: of('# One\n\nRed apples.\n\n# Two\n\nBlue plums.', 2),
    input: withWords,
  });
  expect(summary.embedded).toBeLessThan(2);
  const retriever = await bed.retriever(withWords);
  const found = async (text: string) => (await retriever.retrieve(text, { mode: 'sparse' })).length;
  expect([await found('apples'), await found('pears'), await found('plums')]).toEqual([1, 0, 1]);
  await retriever.close();
});

test('a store without words says so when it is asked by words, and takes none later', async () => {
  const bed = await openBed();
  await bed.run({ source: logOf([document('a', 1, 'text')]), input: smallChunks });
  const { chain } = smallChunks as { chain: NonNullable<PipelineInput['chain']> };
  const later = { chain: chain.toSpliced(1, 0, { sparse: { bm25: {} } }) };
  for (const input of [smallChunks, later]) {
    const retriever = await bed.retriever(input);
    for (const mode of ['sparse', 'hybrid'] as const)
      await expect(retriever.retrieve('text', { mode })).rejects.toMatchObject({
        code: 'config_invalid',
        message: `The store holds no words, so it cannot be asked in mode ${mode}.`,
      });
    await retriever.close();
  }
  await expect(bed.run({ source: logOf([]), input: later })).rejects.toMatchObject({
    code: 'artifact_mismatch',
  });
});

test('a filled store gets words with a new generation, and a retriever that is open goes on with them', async () => {
  const bed = await openBed();
  await bed.write({ 'ants.md': 'Ants live in colonies.', 'bees.md': 'Bees make honey, number E42.' });
  const chain: PipelineInput['chain'] = [
    { chunk: { markdown: {} } },
    { embed: { static: { model: 'bundled' } } },
  ];
  await bed.run({ input: { chain } });
  const open = await bed.retriever({ chain });
  await expect(open.retrieve('e42', { mode: 'hybrid' })).rejects.toMatchObject({ code: 'config_invalid' });
  const later = { chain: chain.toSpliced(1, 0, { sparse: { bm25: {} } }) };
  await bed.run({ input: { ...later, generations: { onNewSpace: 'reindex' } } });
  const fresh = await bed.retriever(later);
  expect((await fresh.retrieve('e42', { mode: 'sparse' })).map(({ documentId }) => documentId)).toEqual([
    'bees.md',
  ]);
  await fresh.close();
  expect((await open.retrieve('honey', { k: 1 }))[0]).toMatchObject({ documentId: 'bees.md' });
  expect(await open.retrieve('e42', { mode: 'sparse' })).toHaveLength(1);
  await open.close();
});

test('questions that cannot be asked are refused, with what can', async () => {
  const retriever = await filled({ a: 'text' });
  const refusal = async (options: object, text = 'text') =>
    expect.soft(retriever.retrieve(text, options)).rejects.toMatchObject({ code: 'config_invalid' });
  await refusal({}, ' \n');
  for (const k of [0, 1.5, NaN]) await refusal({ k });
  for (const threshold of [NaN, 2, -1.1]) await refusal({ threshold });
  await refusal({ mode: 'lexical' });
  await refusal({ mode: 'sparse', threshold: 0.5 });
  for (const neighbours of [-1, 0.5, 101]) await refusal({ neighbours });
  await refusal({ filter: { lang: { $like: 'e%' } } });
  await retriever.close();
  await expect(retriever.retrieve('text')).rejects.toMatchObject({ code: 'aborted' });
});
