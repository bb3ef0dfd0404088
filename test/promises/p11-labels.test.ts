import { expect, test } from 'vitest';
import type { Metadata } from '../../src/elements/metadata.js';
import { createDocument } from '../../src/elements/document.js';
import { compareModels } from '../../src/transforms/infer/compare-models.js';
import type { KeyedResults } from '../../src/transforms/infer/labelled.js';
import { logOf, outcomes, usePglite, version } from './bed.js';

const openBed = usePglite();

/** A model that signs what it makes, and takes its time. */
function signing(name: string, ms: number) {
  return {
    modelId: `${name}@1`,
    batchSize: 7,
    concurrency: 3,
    run: async (items: readonly unknown[]) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return items.map((item) => ({ label: `${name} saw ${String(item)}` }));
    },
  };
}

test('results of a routed step are those of the models of each route, under their names', async () => {
  const bed = await openBed();
  const langs = ['en', 'de', 'both', 'at', 'fr'];
  const documents = Array.from({ length: 100 }, (_, n) => {
    const metadata = n % 6 === 5 ? {} : { lang: langs[n % 6]! };
    return createDocument({
      id: `d${String(n).padStart(3, '0')}`,
      text: `page ${n}`,
      metadata,
      version: version(1),
    });
  });
  const log = logOf(documents);
  await bed.run({
    source: log,
    input: {
      chain: [
        {
          infer: {
            name: 'sign',
            to: 'metadata.signed',
            route: 'metadata.lang',
            keys: { at: 'de', both: ['en', 'de'], fr: 'en' },
            models: { en: { own: signing('English', 3) }, de: { own: signing('German', 1) } },
          },
        },
        { chunk: { markdown: {} } },
        { embed: { static: { model: 'bundled' } } },
      ],
    },
  });
  const expected: Record<string, readonly string[]> = {
    en: ['en'],
    de: ['de'],
    at: ['de'],
    both: ['en', 'de'],
    fr: ['en'],
  };
  const signers: Record<string, string> = { en: 'English', de: 'German' };
  const { chunks } = await bed.content();
  expect(chunks).toHaveLength(84);
  for (const { metadata, text } of chunks) {
    const { lang, signed } = metadata as { lang: string; signed: Metadata };
    const models = expected[lang]!;
    expect(signed).toEqual({
      labels: models.map((model) => `${model}:${signers[model]} saw ${text}`),
      results: Object.fromEntries(
        models.map((model) => [
          model,
          { label: `${signers[model]} saw ${text}`, modelId: `${signers[model]}@1` },
        ]),
      ),
    });
  }
  const { pairs } = compareModels(chunks.map((one) => (one.metadata as Metadata)['signed'] as KeyedResults));
  expect(pairs).toEqual([{ models: ['de', 'en'], items: 17, agreed: 0 }]);
  // A key without a model, and no default: a failed element, and no harm to the others.
  expect(outcomes(log).filter((kind) => kind === 'failed')).toHaveLength(16);
  expect((await bed.failed())[0]).toMatchObject({
    stage: 'infer',
    error: { code: 'route_unknown', message: expect.stringContaining('no metadata.lang') as string },
  });
});
