import { expect, test } from 'vitest';
import type { PipelineInput } from '../../src/config/schema.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { usePglite } from './bed.js';

const openBed = usePglite();

/** Vectors as wide as the bundled model's, in another space. */
const otherModel: Partial<PipelineInput> = {
  chain: [
    { chunk: { markdown: {} } },
    { embed: { static: { model: 'bundled', prompts: { document: 'passage: ', query: 'query: ' } } } },
  ],
};

function refusalOf(work: Promise<unknown>): Promise<MillraceError> {
  return work.then(
    () => Promise.reject(new Error('It was not refused.')),
    (error: unknown) => MillraceError.from(error),
  );
}

test('another model of the same width is refused, by the writer and by the query side, with what differs', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'Ants.' });
  await bed.run();
  const before = await bed.content();

  const writer = await refusalOf(bed.run({ input: otherModel }));
  expect(writer.code).toBe('artifact_mismatch');
  expect(writer.message).toContain('model.prompts.document: "" -> "passage: "');
  expect(writer.hint).toContain('1 document with 1 chunk would be embedded anew');

  const reader = await refusalOf(bed.retriever(otherModel));
  expect(reader.code).toBe('artifact_mismatch');
  expect(reader.message).toContain('passage: ');
  expect(await bed.content()).toEqual(before);
});

test('a changed chunk size is refused with the setting that differs; it never keeps old vectors in silence', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'Ants.' });
  const sized = (maxTokens: number): Partial<PipelineInput> => ({
    chain: [{ chunk: { markdown: { maxTokens } } }, { embed: { static: { model: 'bundled' } } }],
  });
  await bed.run({ input: sized(200) });
  const { code, message } = await refusalOf(bed.run({ input: sized(100) }));
  expect(code).toBe('artifact_mismatch');
  expect(message).toContain('chunk.markdown.maxTokens: 200 -> 100');
  expect((await bed.run({ input: sized(200) })).outcomes.unchanged).toBe(1);
});

test('a setting that affects neither output nor vectors is no change of the chain', async () => {
  const bed = await openBed();
  await bed.write({ 'a.md': 'Ants.' });
  await bed.run();
  const summary = await bed.run({ input: { workers: 2, stopDeadlineMs: 1, limits: { elements: 5 } } });
  expect(summary).toMatchObject({ embedded: 0, outcomes: { unchanged: 1 } });
});
