import { afterEach, expect, test } from 'vitest';
import { startOpenAi, type OpenAiDouble } from '../support/openai.js';
import { usePglite } from '../promises/bed.js';

const newBed = usePglite();
let api: OpenAiDouble;
afterEach(() => api.close());

test('a chat model labels documents and gives chunks their context; a refusal fails its document alone', async () => {
  const bed = await newBed();
  api = await startOpenAi({
    chat: (messages) => {
      const asked = messages.at(-1)!.content;
      if (asked.startsWith('Place:')) return `About ${/\[(\w+)\]/.exec(asked)![1]}.`;
      return JSON.stringify({ label: asked.includes('honey') ? 'sweet' : 'plain' });
    },
  });
  api.judge(({ texts }) =>
    texts.at(-1)!.includes('poison') ? { kind: 'refusal', refusal: 'Not that.' } : undefined,
  );
  await bed.write({
    'docs/a.md': '[bees] Bees make honey.',
    'docs/b.md': '[ants] Ants live in colonies.',
    'docs/c.md': '[toads] Toads are full of poison.',
  });
  const openai = { url: api.url, model: 'talker', apiKey: 'sk-very-secret' };
  const schema = {
    type: 'object',
    properties: { label: { type: 'string', enum: ['sweet', 'plain'] } },
    required: ['label'],
    additionalProperties: false,
  };
  const input = {
    chain: [
      { infer: { name: 'taste', to: 'metadata.taste', model: { openai: { ...openai, schema } } } },
      { chunk: { markdown: {} } },
      {
        infer: {
          name: 'place',
          field: { chunk: 'text', whole: 'document' },
          to: 'context',
          model: { openai: { ...openai, prompt: 'Place: {{chunk}} in {{whole}}' } },
        },
      },
      { embed: { static: { model: 'bundled' } } },
    ],
  };
  expect((await bed.run({ input })).outcomes).toMatchObject({ stored: 2, failed: 1 });
  const { chunks } = await bed.content();
  expect(
    chunks.map(({ documentId, metadata }) => [
      documentId,
      (metadata as { taste: { label: string } }).taste.label,
    ]),
  ).toEqual([
    ['docs/a.md', 'sweet'],
    ['docs/b.md', 'plain'],
  ]);
  const retriever = await bed.retriever(input);
  const hits = await retriever.retrieve('About bees.\n\n[bees] Bees make honey.', { k: 1 });
  expect(hits).toMatchObject([
    { documentId: 'docs/a.md', text: '[bees] Bees make honey.', score: expect.closeTo(1, 4) },
  ]);
  await retriever.close();
  const failed = await bed.failed();
  expect(failed).toMatchObject([{ documentId: 'docs/c.md', stage: 'infer' }]);
  expect(failed[0]!.error.message).toContain('Not that.');
  expect(JSON.stringify([chunks, failed])).not.toContain('very-secret');
  const before = api.requests.length;
  expect((await bed.run({ input })).outcomes).toMatchObject({ unchanged: 2 });
  expect(api.requests.length - before).toBeLessThanOrEqual(6);
});
