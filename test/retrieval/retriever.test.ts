import { expect, test } from 'vitest';
import type { PipelineInput } from '../../src/config/schema.js';
import type { Retriever } from '../../src/retrieval/retriever.js';
import { document, logOf, paragraphs, smallChunks, usePglite } from '../promises/bed.js';

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

test('questions that cannot be asked are refused, with what can', async () => {
  const retriever = await filled({ a: 'text' });
  const refusal = async (options: object, text = 'text') =>
    expect.soft(retriever.retrieve(text, options)).rejects.toMatchObject({ code: 'config_invalid' });
  await refusal({}, ' \n');
  for (const k of [0, 1.5, NaN]) await refusal({ k });
  for (const threshold of [NaN, 2, -1.1]) await refusal({ threshold });
  for (const neighbours of [-1, 0.5, 101]) await refusal({ neighbours });
  await refusal({ filter: { lang: { $like: 'e%' } } });
  await retriever.close();
  await expect(retriever.retrieve('text')).rejects.toMatchObject({ code: 'aborted' });
});
