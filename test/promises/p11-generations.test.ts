import { expect, test, vi } from 'vitest';
import { connectors } from '../../connectors/registry.js';
import type { PipelineInput } from '../../src/config/schema.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import {
  dropGeneration,
  listGenerations,
  withReindex,
  withRollback,
} from '../../src/runtime/generations/run-generations.js';
import { usePglite, type Bed } from './bed.js';

const openBed = usePglite();
vi.setConfig({ testTimeout: 120_000 });

/** Vectors as wide as the bundled model's, in another space. */
const chain: PipelineInput['chain'] = [
  { chunk: { markdown: {} } },
  { embed: { static: { model: 'bundled', prompts: { document: 'passage: ', query: 'query: ' } } } },
];
const held: Partial<PipelineInput> = { chain };
const canaries = ['Who makes honey?', 'What do cows eat?'];
const reindexed: Partial<PipelineInput> = { chain, generations: { onNewSpace: 'reindex', canaries } };

const animals = {
  'ants.md': '# Ants\n\nAnts live in colonies.',
  'bees.md': '# Bees\n\nBees make honey.',
  'cows.md': '# Cows\n\nCows eat grass.',
};
const statesOf = async (bed: Bed) =>
  (await listGenerations(bed.spec(), { connectors })).map(({ number, state, behind, count }) => ({
    number,
    state,
    behind,
    documents: count.documents,
  }));
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: unknown) => MillraceError.from(error).code,
  );

test('a run with another model fills a new generation from the stored texts and switches to it', async () => {
  const bed = await openBed();
  await bed.write(animals);
  await bed.run();
  expect(await codeOf(bed.run({ input: held }))).toBe('artifact_mismatch');
  const notices: string[] = [];
  const summary = await bed.run({
    input: reindexed,
    onEvent: (event) => event.type === 'notice' && notices.push(`${event.code}: ${event.message}`),
  });
  // The texts came from the store, so the source had nothing new.
  expect(summary.outcomes).toMatchObject({ unchanged: 3, stored: 0 });
  expect(notices).toEqual([
    expect.stringMatching(
      /^generation_filling: .*3 documents with 3 chunks, about \d+ MB on disk.* are free/,
    ),
    // Three documents, of which each question finds all.
    expect.stringMatching(/^generation_compared: .*"Who makes honey\?": 100 %; "What do cows eat\?": 100 %/),
    expect.stringMatching(/^generation_switched/),
  ]);
  expect(await statesOf(bed)).toEqual([
    { number: 1, state: 'retired', behind: 3, documents: 3 },
    { number: 2, state: 'active', behind: 0, documents: 3 },
  ]);
  const retriever = await bed.retriever(held);
  const [hit] = await retriever.retrieve('Who makes honey?', { k: 1 });
  expect(hit?.documentId).toBe('bees.md');
  await retriever.close();
  expect(await codeOf(bed.run())).toBe('artifact_mismatch');
});

test('a reader that was opened before the switch goes on, by the new model', async () => {
  const bed = await openBed();
  await bed.write(animals);
  await bed.run();
  const retriever = await bed.retriever();
  const scoreOf = async () => (await retriever.retrieve('Who makes honey?', { k: 1 }))[0];
  const before = await scoreOf();
  await bed.run({ input: reindexed });
  const answers = await Promise.all([scoreOf(), scoreOf(), scoreOf()]);
  expect(answers.map((hit) => hit?.documentId)).toEqual(['bees.md', 'bees.md', 'bees.md']);
  expect(answers[0]!.score).not.toBe(before!.score);
  expect(answers[1]!.score).toBe(answers[0]!.score);
  await retriever.close();
  // The old configuration is that of a generation that is still there.
  const old = await bed.retriever();
  expect((await old.retrieve('Who makes honey?', { k: 1 }))[0]!.score).toBe(answers[0]!.score);
  await old.close();
});

test('what is written while a generation is filled is in it at the switch, deletions too', async () => {
  const bed = await openBed();
  await bed.write(animals);
  await bed.run();
  const spec = bed.spec(held);
  await withReindex(spec, { connectors }, async (reindex) => {
    expect(reindex).toMatchObject({ number: 2, active: 1, forecast: { documents: 3, chunks: 3 } });
    expect(await reindex.fill()).toMatchObject({ documents: 3, embedded: 3 });
    await bed.write({ 'ants.md': '# Ants\n\nAnts carry leaves.', 'dogs.md': '# Dogs\n\nDogs bark.' });
    await bed.remove('cows.md');
    await bed.run();
    expect((await statesOf(bed))[1]).toMatchObject({ state: 'filling', documents: 3 });
    await reindex.switch(0);
  });
  const retriever = await bed.retriever(held);
  const best = async (text: string) => (await retriever.retrieve(text, { k: 1 }))[0]?.text;
  expect(await retriever.count()).toEqual({ documents: 3, chunks: 3 });
  expect(await best('What do ants carry?')).toContain('leaves');
  expect(await best('Which animal barks?')).toContain('bark');
  expect(await best('What do cows eat?')).not.toContain('grass');
  await retriever.close();
  expect(await withReindex(spec, { connectors }, (reindex) => reindex.fill())).toMatchObject({
    documents: 0,
  });
});

test('a filling that is stopped goes on where it was, and embeds nothing twice', async () => {
  const bed = await openBed();
  await bed.write(
    Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`${at}.md`, `Note ${at} about mills.`])),
  );
  await bed.run();
  const stop = new AbortController();
  let taken = 0;
  const first = await withReindex(
    bed.spec(held),
    {
      connectors,
      signal: stop.signal,
      onEvent: (event) => {
        if (event.type === 'settled' && ++taken === 40) stop.abort();
      },
    },
    (reindex) => reindex.fill(),
  );
  expect(first.documents).toBeLessThan(200);
  const second = await withReindex(bed.spec(held), { connectors }, async (reindex) => {
    expect(reindex.number).toBe(2);
    const summary = await reindex.fill();
    await reindex.switch(0);
    return summary;
  });
  expect(first.embedded + second.embedded).toBe(200);
  expect((await statesOf(bed))[1]).toMatchObject({ state: 'active', documents: 200 });
});

test('a switch back takes over what was written since, and the writer of the other generation stops', async () => {
  const bed = await openBed();
  await bed.write(animals);
  await bed.run();
  await bed.run({ input: reindexed });
  await bed.write({ 'bees.md': '# Bees\n\nBees dance.' });
  await bed.run({ input: held });
  await withReindex(bed.spec(), { connectors }, async (reindex) => {
    expect(reindex).toMatchObject({ number: 1, active: 2 });
    await reindex.switch(0);
  });
  expect(await bed.texts('bees.md')).toEqual(['# Bees\n\nBees dance.']);
  expect(await codeOf(bed.run({ input: held }))).toBe('artifact_mismatch');
  expect((await bed.run()).outcomes).toMatchObject({ unchanged: 3 });
});

test('a filling whose generation is dropped says so, and does not end as if it were done', async () => {
  const bed = await openBed();
  await bed.write(animals);
  await bed.run();
  const dropped = withReindex(bed.spec(held), { connectors }, async (reindex) => {
    await dropGeneration(bed.spec(), reindex.number, { connectors });
    return reindex.fill();
  });
  expect(await codeOf(dropped)).toBe('generation_moved');
  expect(await statesOf(bed)).toMatchObject([{ number: 1, state: 'active' }]);
});

test('a rollback goes back whichever configuration it is given, and only a switch goes forward again', async () => {
  const bed = await openBed();
  await bed.write(animals);
  await bed.run();
  const refused = withRollback(bed.spec(), { connectors }, (reindex) => reindex.switch(0));
  expect(await codeOf(refused)).toBe('generation_refused');
  await bed.run({ input: reindexed });
  await bed.write({ 'bees.md': '# Bees\n\nBees dance.' });
  await bed.run({ input: held });
  await withRollback(bed.spec(held), { connectors }, async (reindex) => {
    expect(reindex).toMatchObject({ number: 1, active: 2 });
    await reindex.switch(0);
  });
  expect(await bed.texts('bees.md')).toEqual(['# Bees\n\nBees dance.']);
  // Neither policy goes forward by itself: that would undo what a person has done.
  for (const input of [held, reindexed])
    await expect(bed.run({ input })).rejects.toMatchObject({
      code: 'artifact_mismatch',
      hint: expect.stringContaining('Generation 2') as string,
    });
  await withReindex(bed.spec(held), { connectors }, (reindex) => reindex.switch(0));
  expect((await bed.run({ input: held })).outcomes).toMatchObject({ unchanged: 3 });
});

test('a generation that answers too differently, or whose texts would be others, does not become the active one', async () => {
  const bed = await openBed();
  await bed.write(animals);
  await bed.run();
  const chunked: Partial<PipelineInput> = {
    chain: [{ chunk: { markdown: { maxTokens: 32 } } }, { embed: { static: { model: 'bundled' } } }],
    generations: { onNewSpace: 'reindex' },
  };
  expect(await codeOf(bed.run({ input: chunked }))).toBe('artifact_mismatch');
  const asking = bed.spec({ chain, generations: { canaries } });
  await expect(withReindex(asking, { connectors }, (reindex) => reindex.switch(1.01))).rejects.toMatchObject({
    code: 'generation_refused',
    message: expect.stringContaining('"Who makes honey?": 100 %') as string,
  });
  expect(await statesOf(bed)).toMatchObject([
    { number: 1, state: 'active' },
    { number: 2, state: 'filling', behind: 0 },
  ]);
  expect((await bed.run()).outcomes).toMatchObject({ unchanged: 3 });
});
