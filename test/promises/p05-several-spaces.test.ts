import { expect, test } from 'vitest';
import type { PipelineInput } from '../../src/config/schema.js';
import { createDocument } from '../../src/elements/document.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { ownEmbedding } from '../support/own-embedding.js';
import { logOf, outcomes, usePglite, version, type Bed } from './bed.js';

const openBed = usePglite();

function doc(id: string, position: number, text: string, lang?: string) {
  return createDocument({
    id,
    text,
    metadata: lang === undefined ? {} : { lang },
    version: version(position),
  });
}

type Embed = NonNullable<PipelineInput['chain']>[number] & { embed: object };

function chainOf(embed: Embed['embed']): Partial<PipelineInput> {
  return { chain: [{ chunk: { recursive: { maxTokens: 24 } } }, { embed }] } as Partial<PipelineInput>;
}

const models = {
  en: { own: ownEmbedding({ name: 'english', width: 8 }) },
  de: { own: ownEmbedding({ name: 'german', width: 4 }) },
};
const routed = chainOf({ route: 'metadata.lang', keys: { at: 'de', ch: ['de', 'en'] }, models });

/** Texts that a question of this route finds, whatever their rank. */
async function found(bed: Bed, input: Partial<PipelineInput>, route?: string): Promise<string[]> {
  const retriever = await bed.retriever(input);
  const hits = await retriever.retrieve('ants', { k: 50, ...(route !== undefined && { route }) });
  await retriever.close();
  return hits.map(({ text }) => text).sort();
}

test('each document is in the space of its route, and a question is asked in every space or in one', async () => {
  const bed = await openBed();
  const log = logOf([
    doc('a', 1, 'ants', 'en'),
    doc('b', 1, 'Bienen', 'de'),
    doc('c', 1, 'Ameisen', 'at'),
    doc('d', 1, 'cows', 'ch'),
  ]);
  const summary = await bed.run({ source: log, input: routed });
  expect(summary).toMatchObject({ embedded: 5, chunks: 4 });
  expect(await found(bed, routed, 'en')).toEqual(['ants', 'cows']);
  expect(await found(bed, routed, 'de')).toEqual(['Ameisen', 'Bienen', 'cows']);
  expect(await found(bed, routed, 'at')).toEqual(['Ameisen', 'Bienen', 'cows']);
  expect(await found(bed, routed)).toEqual(['Ameisen', 'Bienen', 'ants', 'cows']);
  const retriever = await bed.retriever(routed);
  await expect(retriever.retrieve('ants', { route: 'fr' })).rejects.toMatchObject({ code: 'route_unknown' });
  // The nearest of one space scores as such; what is in both spaces scores twice.
  const scores = new Map((await retriever.retrieve('ants')).map(({ text, score }) => [text, score]));
  expect(scores.get('ants')).toBe(1 / 61);
  expect(scores.get('cows')).toBeGreaterThan(1 / 62 + 1 / 64);
  await retriever.close();
});

test('a document that changes its route leaves its old space; what it does not change is not embedded again', async () => {
  const bed = await openBed();
  const text = 'ants\n\nbees';
  await bed.run({ source: logOf([doc('a', 1, text, 'en')]), input: routed });
  expect(await found(bed, routed, 'en')).toEqual([text]);
  const moved = await bed.run({ source: logOf([doc('a', 2, text, 'de')]), input: routed });
  expect(moved).toMatchObject({ embedded: 1, outcomes: { stored: 1 } });
  expect(await found(bed, routed, 'en')).toEqual([]);
  expect(await found(bed, routed, 'de')).toEqual([text]);
  const both = await bed.run({ source: logOf([doc('a', 3, text, 'ch')]), input: routed });
  // It was in the German space already.
  expect(both).toMatchObject({ embedded: 1 });
  const again = await bed.run({ source: logOf([doc('a', 4, text, 'ch')]), input: routed });
  expect(again).toMatchObject({ embedded: 0, outcomes: { unchanged: 1 } });
  expect((await bed.content()).unsound).toEqual([]);
});

test('a key without a model goes to the default, or fails alone where there is none', async () => {
  const bed = await openBed();
  const log = logOf([doc('a', 1, 'ants', 'en'), doc('b', 1, 'fourmis', 'fr'), doc('c', 1, 'none')]);
  await bed.run({ source: log, input: routed });
  expect(outcomes(log)).toEqual(['stored', 'failed', 'failed']);
  expect(await bed.failed()).toMatchObject([
    { documentId: 'b', stage: 'embed', error: { code: 'route_unknown' } },
    { documentId: 'c', stage: 'embed', error: { code: 'route_unknown' } },
  ]);
  const other = await openBed();
  const withDefault = chainOf({
    route: ({ metadata }: { metadata: object }) => ('lang' in metadata ? String(metadata.lang) : 'none'),
    models: { en: models.en, '*': models.de },
  });
  await other.run({ source: log, input: withDefault });
  expect(await found(other, withDefault, 'fr')).toEqual(['fourmis', 'none']);
});

test('two models side by side: chunks fit the smaller one, and the vectors are each model’s own', async () => {
  const bed = await openBed();
  const seen: Record<string, string[]> = { a: [], b: [] };
  const side = (name: 'a' | 'b', maxTokens: number) => ({
    own: ownEmbedding({
      name,
      maxTokens,
      before: (texts) => void seen[name]!.push(...texts.map(({ text }) => text)),
    }),
  });
  const input: Partial<PipelineInput> = {
    chain: [
      { chunk: { recursive: { maxTokens: 200 } } },
      { embed: { keys: { '*': ['a', 'b'] }, models: { a: side('a', 60), b: side('b', 20) } } },
    ],
  };
  const text = Array.from({ length: 40 }, (_, n) => `Sentence ${n} tells about ants.`).join(' ');
  const summary = await bed.run({ source: logOf([doc('x', 1, text)]), input });
  const { chunks } = await bed.content();
  expect(chunks.length).toBeGreaterThan(10);
  expect(chunks.every(({ tokens }) => tokens <= 20)).toBe(true);
  expect(summary).toMatchObject({ chunks: chunks.length, embedded: 2 * chunks.length });
  expect(seen['a']!.slice().sort()).toEqual(chunks.map((one) => one.text).sort());
  expect(seen['b']!.slice().sort()).toEqual(seen['a']!.slice().sort());
  expect(await found(bed, input, 'a')).toHaveLength(chunks.length);
  expect(await found(bed, input, 'b')).toHaveLength(chunks.length);
});

test('another model in one of the spaces is refused, by the writer and by the query side, with where it differs', async () => {
  const bed = await openBed();
  await bed.run({ source: logOf([doc('a', 1, 'ants', 'en')]), input: routed });
  const other = chainOf({
    route: 'metadata.lang',
    keys: { at: 'de', ch: ['de', 'en'] },
    models: { ...models, de: { own: ownEmbedding({ name: 'dutch', width: 4 }) } },
  });
  const refused = async (work: Promise<unknown>) =>
    MillraceError.from(
      await work.then(
        () => 'It was not refused.',
        (error: unknown) => error,
      ),
    );
  const writer = await refused(bed.run({ source: logOf([]), input: other }));
  expect(writer.code).toBe('artifact_mismatch');
  expect(writer.message).toContain('model of de.weights: "german" -> "dutch"');
  const reader = await refused(bed.retriever(other));
  expect(reader.code).toBe('artifact_mismatch');
  expect(reader.message).toContain('in space "de"');
  expect(reader.message).not.toContain('in space "en"');
});
