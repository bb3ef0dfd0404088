import { describe, expect, test } from 'vitest';
import { createDocument } from '../../../src/elements/document.js';
import { versionOf } from '../../../src/elements/version.js';
import { createLookupStep, type LookupStepOptions } from '../../../src/transforms/lookup/lookup-step.js';
import { compileTemplate, templateFault } from '../../../src/transforms/lookup/template.js';

const rows: Record<string, object> = {
  al: { name: 'Al', lang: 'de', address: { city: 'Bern' } },
  'handbook.md': { name: 'Book' },
  '7': { name: 'Seven' },
};
const document = (metadata: object) =>
  createDocument({
    id: 'handbook.md',
    text: 'Text.',
    metadata: metadata as never,
    version: versionOf(0, 1n),
  });

async function enriched(
  options: Partial<LookupStepOptions>,
  metadata: object = { author: 'al', lang: 'en' },
) {
  const step = createLookupStep({
    name: 'authors',
    key: 'author',
    ask: async (key) => rows[key] as never,
    fields: 'all',
    join: 'right',
    missing: 'skip',
    metadata: true,
    ...options,
  });
  const { id, version, ...given } = await step.apply(
    document(metadata),
    new AbortController().signal,
    () => undefined,
  );
  expect([id, version]).toEqual(['handbook.md', versionOf(0, 1n)]);
  return given;
}

describe('a row comes into its document', () => {
  const whole = { author: 'al', lang: 'de', name: 'Al', address: { city: 'Bern' } };

  test('by the rule: right wins, left wins, nested, or a function of one’s own', async () => {
    expect(await enriched({})).toMatchObject({ text: 'Text.', metadata: whole });
    expect((await enriched({ join: 'left' })).metadata).toEqual({ ...whole, lang: 'en' });
    expect((await enriched({ join: 'nested', into: 'by.person' })).metadata).toEqual({
      author: 'al',
      lang: 'en',
      by: { person: rows['al'] },
    });
    const join: LookupStepOptions['join'] = ({ text }, row) => ({
      text: `${text} ${String(row['name'])}`,
      metadata: { n: 1 },
    });
    expect(await enriched({ join })).toMatchObject({
      text: 'Text. Al',
      metadata: { author: 'al', lang: 'en', n: 1 },
    });
    const broken: LookupStepOptions['join'] = () => {
      throw new Error('No.');
    };
    await expect(enriched({ join: broken })).rejects.toMatchObject({ code: 'transform_failed' });
  });

  test('with only the fields that are wanted', async () => {
    expect((await enriched({ fields: ['address.city', 'name', 'none'] })).metadata).toEqual({
      author: 'al',
      lang: 'en',
      name: 'Al',
      address: { city: 'Bern' },
    });
  });

  test('into its text by a template, its metadata, or both', async () => {
    const template = '{{By}} {name} ({address.city}){none}\n\n{text}';
    expect(await enriched({ template })).toMatchObject({ text: '{By} Al (Bern)\n\nText.', metadata: whole });
    expect(await enriched({ template, metadata: false })).toMatchObject({
      text: '{By} Al (Bern)\n\nText.',
      metadata: { author: 'al', lang: 'en' },
    });
  });

  test('by any key: a number, a place inside the metadata, the id', async () => {
    expect((await enriched({}, { author: 7 })).metadata).toEqual({ author: 7, name: 'Seven' });
    const deep = { author: { id: 'al' } };
    for (const key of ['author.id', 'metadata.author.id'])
      expect((await enriched({ key }, deep)).metadata).toMatchObject({ name: 'Al' });
    expect((await enriched({ key: 'id' })).metadata).toMatchObject({ name: 'Book' });
    await expect(enriched({}, { author: ['al'] })).rejects.toMatchObject({ code: 'transform_failed' });
  });
});

test.each([{ author: 'nobody' }, { author: null }, { author: '' }, {}])(
  'without a row the document %j goes on as it is, fails, or gets the default',
  async (metadata) => {
    const template = '{name}: {text}';
    expect(await enriched({ template }, metadata)).toMatchObject({ text: 'Text.', metadata });
    await expect(enriched({ missing: 'fail' }, metadata)).rejects.toMatchObject({
      code: 'transform_failed',
      hint: expect.stringContaining('missing: skip') as string,
    });
    expect(await enriched({ template, missing: { default: { name: 'Unknown' } } }, metadata)).toMatchObject({
      text: 'Unknown: Text.',
      metadata: { ...metadata, name: 'Unknown' },
    });
  },
);

test('a template with a brace without its partner is refused', () => {
  expect(['{', 'a }', '{a}}', '{}', '{{{'].map((text) => typeof templateFault(text))).toEqual(
    Array(5).fill('string'),
  );
  expect(['', '{text}', '{{ {a.b} }}'].map(templateFault)).toEqual(Array(3).fill(undefined));
  expect(compileTemplate('{a}{list}')('t', { a: 1, list: [1, 'x'] })).toBe('1[1,"x"]');
});
