import { expect, test } from 'vitest';
import { createDocument } from '../../src/elements/document.js';
import { logOf, outcomes, smallChunks, usePglite, version } from '../promises/bed.js';

const openBed = usePglite();

async function filled() {
  const bed = await openBed();
  const sink = { pglite: { ...(bed.spec().sink.config as { path: string }), tenant: 'org.name' } };
  const input = {
    ...smallChunks,
    chain: [smallChunks.chain![0]!, { sparse: { bm25: {} } }, smallChunks.chain![1]!],
    sink,
  };
  const of = (id: string, text: string, org?: unknown) =>
    createDocument({
      id,
      text,
      version: version(1),
      metadata: org === undefined ? {} : { org: { name: org as string } },
    });
  const source = logOf([
    of('a', 'The pump of Acme runs dry.', 'acme'),
    of('b', 'The pump of Bolt runs hot.', 'bolt'),
    of('c', 'The pump of nobody stands still.'),
    of('d', 'The pump of a number.', 7),
  ]);
  await bed.run({ source, input });
  expect(outcomes(source)).toEqual(['stored', 'stored', 'stored', 'failed']);
  return bed.retriever(input);
}

test('a question says whose documents are asked, and gets those alone, by vectors and by words', async () => {
  const retriever = await filled();
  const found = async (options: Parameters<typeof retriever.retrieve>[1]) =>
    (await retriever.retrieve('Which pump runs dry?', options)).map(({ documentId }) => documentId).sort();
  for (const mode of ['dense', 'sparse', 'hybrid'] as const) {
    expect(await found({ mode, tenant: 'acme' })).toEqual(['a']);
    expect(await found({ mode, tenant: 'bolt', filter: { 'org.name': 'acme' } })).toEqual([]);
    expect(await found({ mode, filter: { 'org.name': 'bolt' } })).toEqual(['b']);
    expect(await found({ mode, allTenants: true })).toEqual(['a', 'b', 'c']);
    expect(await found({ mode, tenant: "x' or true --" })).toEqual([]);
    for (const options of [
      {},
      { filter: { 'org.name': ['acme', 'bolt'] } },
      { filter: { $or: [{ 'org.name': 'acme' }, { other: 1 }] } },
      { filter: { $not: { 'org.name': 'acme' } } },
      { tenant: 'acme', allTenants: true },
    ])
      await expect(found({ mode, ...options })).rejects.toMatchObject({ code: 'config_invalid' });
  }
  await retriever.close();
});

test('a document is given to its tenant alone', async () => {
  const retriever = await filled();
  expect(await retriever.document('a', { tenant: 'acme' })).toMatchObject({ documentId: 'a' });
  expect(await retriever.document('a', { tenant: 'bolt' })).toBeUndefined();
  expect(await retriever.document('c', { tenant: 'acme' })).toBeUndefined();
  expect(await retriever.document('c', { allTenants: true })).toMatchObject({ documentId: 'c' });
  expect(await retriever.document('nothing', { tenant: 'acme' })).toBeUndefined();
  await expect(retriever.document('a')).rejects.toMatchObject({ code: 'config_invalid' });
  await retriever.close();
});

test('a store without tenants refuses a question for one', async () => {
  const bed = await openBed();
  await bed.run({ source: logOf([createDocument({ id: 'a', text: 'A text.', version: version(1) })]) });
  const retriever = await bed.retriever();
  expect(await retriever.retrieve('text')).toHaveLength(1);
  for (const options of [{ tenant: 'a' }, { allTenants: true }])
    await expect(retriever.retrieve('text', options)).rejects.toMatchObject({ code: 'config_invalid' });
  await retriever.close();
});
