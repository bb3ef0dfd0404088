import { afterAll, beforeAll, expect, test } from 'vitest';
import { usePglite } from '../../promises/bed.js';
import { startQdrant, type QdrantDouble } from '../../support/qdrant/start.js';

const openBed = usePglite();
let double: QdrantDouble;
beforeAll(async () => {
  double = await startQdrant();
});
afterAll(() => double.close());

test('a folder becomes a Qdrant store, follows its changes, and is asked with the model that filled it', async () => {
  const bed = await openBed();
  const input = { sink: { qdrant: { url: double.url } } };
  await bed.write({ 'ants.md': '# Ants\n\nAnts live in colonies.', 'bees.md': '# Bees\n\nBees make honey.' });
  expect((await bed.run({ input })).outcomes).toMatchObject({ stored: 2, failed: 0 });
  const again = await bed.run({ input });
  expect(again).toMatchObject({ outcomes: { unchanged: 2 }, embedded: 0 });

  const retriever = await bed.retriever(input);
  const [best] = await retriever.retrieve('who makes honey?', { k: 1 });
  expect(best).toMatchObject({ documentId: 'bees.md' });

  await bed.write({ 'bees.md': '# Bees\n\nBees make honey.\n\n# Wax\n\nWax too.' });
  await bed.remove('ants.md');
  const changed = await bed.run({ input });
  expect(changed.outcomes).toMatchObject({ stored: 1, deleted: 1 });
  // The first paragraph keeps its vector.
  expect(changed.embedded).toBe(1);
  const texts = (await retriever.retrieve('anything', { k: 10 })).map(({ text }) => text);
  expect(texts.some((text) => text.includes('Ants'))).toBe(false);
  expect(texts.filter((text) => text.includes('honey'))).toHaveLength(1);
  await retriever.close();
});

test('another model or chunk size is refused, with what differs', async () => {
  const bed = await openBed();
  const input = { sink: { qdrant: { url: double.url } } };
  await bed.write({ 'a.md': 'Ants live in colonies.' });
  await bed.run({ input });
  const other = {
    ...input,
    chain: [{ chunk: { markdown: { maxTokens: 30 } } }, { embed: { static: { model: 'bundled' } } }],
  };
  await expect(bed.run({ input: other })).rejects.toMatchObject({ code: 'artifact_mismatch' });
});

test('another model is switched to where that is asked for, and readers that were opened before go on', async () => {
  const bed = await openBed();
  const input = { name: 'moving', sink: { qdrant: { url: double.url } } };
  const renewed = {
    ...input,
    chain: [
      { chunk: { markdown: {} } },
      { embed: { static: { model: 'bundled', prompts: { document: 'passage: ' } } } },
    ],
    generations: { onNewSpace: 'reindex' as const },
  };
  await bed.write({ 'ants.md': '# Ants\n\nAnts live in colonies.', 'bees.md': '# Bees\n\nBees make honey.' });
  await bed.run({ input });
  const retriever = await bed.retriever(input);
  const best = async () => (await retriever.retrieve('who makes honey?', { k: 1 }))[0]!;
  const before = await best();
  // What was embedded is known from what was stored: the heading too, which stands before the text.
  expect((await bed.run({ input: renewed })).outcomes).toMatchObject({ unchanged: 2, stored: 0 });
  const after = await best();
  expect([before.documentId, after.documentId]).toEqual(['bees.md', 'bees.md']);
  expect(after.score).not.toBe(before.score);
  await retriever.close();
  await expect(bed.run({ input })).rejects.toMatchObject({ code: 'artifact_mismatch' });
});
