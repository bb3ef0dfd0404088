import { expect, test } from 'vitest';
import type { PipelineInput } from '../../src/config/schema.js';
import type { RunEvent } from '../../src/observability/events.js';
import { createDocument } from '../../src/elements/document.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { document, logOf, outcomes, usePglite, version } from '../promises/bed.js';

const openBed = usePglite();

type Step = NonNullable<PipelineInput['chain']>[number];
const embed: Step = { embed: { static: { model: 'bundled' } } };
const chunk: Step = { chunk: { recursive: { maxTokens: 24 } } };

/** Says how long a text is. */
const measuring = {
  modelId: 'measure@1',
  run: async (items: readonly unknown[]) =>
    items.map((item) => ({ label: String(item).length > 8 ? 'long' : 'short' })),
};

function withMetadata(id: string, text: string, metadata: Metadata) {
  return createDocument({ id, text, metadata, version: version(1) });
}

test('a result is put where the step says, with the model that made it, and can be filtered by', async () => {
  const bed = await openBed();
  const input = {
    chain: [{ infer: { name: 'size', to: 'metadata.about.size', model: { own: measuring } } }, chunk, embed],
  };
  const log = logOf([withMetadata('a', 'ants', { about: { by: 'me' } }), document('b', 1, 'bees and cows')]);
  await bed.run({ source: log, input });
  const { chunks } = await bed.content();
  expect(chunks.map(({ metadata }) => metadata)).toEqual([
    { about: { by: 'me', size: { label: 'short', modelId: 'measure@1' } } },
    { about: { size: { label: 'long', modelId: 'measure@1' } } },
  ]);
  const retriever = await bed.retriever(input);
  const hits = await retriever.retrieve('cows', { filter: { 'about.size.label': 'short' } });
  expect(hits.map(({ documentId }) => documentId)).toEqual(['a']);
  await retriever.close();
});

test('a result with a JSON form of its own is kept in it; one that has none fails, and is not kept empty', async () => {
  const bed = await openBed();
  const at = new Date('2026-01-02T03:04:05.000Z');
  const odd = {
    modelId: 'odd@1',
    run: async (items: readonly unknown[]) =>
      items.map((item) => (item === 'ants' ? at : new Map([['a', 1]])) as unknown as string),
  };
  const events: RunEvent[] = [];
  await bed.run({
    source: logOf([document('a', 1, 'ants'), document('b', 1, 'bees')]),
    input: { chain: [{ infer: { name: 'odd', to: 'metadata.odd', model: { own: odd } } }, chunk, embed] },
    onEvent: (event) => events.push(event),
  });
  const { chunks } = await bed.content();
  expect(chunks.map(({ metadata }) => metadata)).toEqual([
    { odd: { value: at.toISOString(), modelId: 'odd@1' } },
  ]);
  expect(events.filter(({ type }) => type === 'failed')).toMatchObject([
    { documentId: 'b', error: { message: 'odd.value is a Map, which JSON cannot hold.' } },
  ]);
});

test('a step may give the document another text, and steps see what earlier ones made', async () => {
  const bed = await openBed();
  const shout = {
    modelId: 'shout@1',
    run: async (items: readonly unknown[]) => items.map((item) => `${String(item)}!`),
  };
  const join = {
    modelId: 'join@1',
    run: async (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)),
  };
  await bed.run({
    source: logOf([withMetadata('a', 'ants', { title: 'Small' })]),
    input: {
      chain: [
        { infer: { name: 'shout', to: 'text', model: { own: shout } } },
        {
          infer: {
            name: 'join',
            field: { body: 'text', title: 'metadata.title' },
            to: 'metadata.all',
            model: { own: join },
          },
        },
        chunk,
        embed,
      ],
    },
  });
  const { chunks } = await bed.content();
  expect(chunks).toMatchObject([
    { text: 'ants!', metadata: { all: { value: '{"body":"ants!","title":"Small"}', modelId: 'join@1' } } },
  ]);
});

test('an item that spoils its batch fails alone, and each hook fails as a stage of its own', async () => {
  const bed = await openBed();
  const events: RunEvent[] = [];
  const picky = {
    modelId: 'picky@1',
    run: async (items: readonly unknown[]) => {
      if (items.includes('poison')) throw new Error('The whole batch fell over.');
      return items.map((item) => (item === 'refused' ? new Error('Not this one.') : 'fine'));
    },
  };
  const texts = [
    'poison',
    'refused',
    'before',
    'after',
    ...Array.from({ length: 40 }, (_, n) => `page ${n}`),
  ];
  const log = logOf(texts.map((text) => document(text, 1, text)));
  await bed.run({
    source: log,
    onEvent: (event) => events.push(event),
    input: {
      chain: [
        {
          infer: {
            name: 'pick',
            to: 'metadata.verdict',
            model: { own: picky },
            preprocess: (value) => {
              if (value === 'before') throw new Error('No item can be made.');
              return value;
            },
            postprocess: (value, { document: { text } }) => {
              if (text === 'after') throw new Error('No result can be made.');
              return value;
            },
          },
        },
        chunk,
        embed,
      ],
    },
  });
  const failures = (await bed.failed()).map(({ documentId, stage, error }) => [
    documentId,
    stage,
    error.code,
  ]);
  expect(failures.sort()).toEqual([
    ['after', 'postprocess', 'transform_failed'],
    ['before', 'preprocess', 'transform_failed'],
    ['poison', 'infer', 'inference_failed'],
    ['refused', 'infer', 'inference_failed'],
  ]);
  expect(outcomes(log).filter((kind) => kind === 'stored')).toHaveLength(40);
});

test('a model that gives no list, or what JSON cannot hold, fails its documents and says so', async () => {
  const bed = await openBed();
  const run = async (items: readonly unknown[]) =>
    items.includes('nothing') ? (undefined as never) : items.map(() => 1n as never);
  const model = { own: { modelId: 'odd@1', batchSize: 1, run } };
  await bed.run({
    source: logOf([document('nothing', 1, 'nothing'), document('big', 1, 'big')]),
    input: { chain: [{ infer: { name: 'odd', to: 'metadata.odd', model } }, chunk, embed] },
  });
  const failures = (await bed.failed()).map(({ documentId, error }) => [
    documentId,
    error.code,
    error.message,
  ]);
  expect(failures.sort()).toEqual([
    ['big', 'transform_failed', 'odd.value is a bigint, which JSON cannot hold.'],
    [
      'nothing',
      'inference_failed',
      'The model of "odd" failed: It gave undefined, not a list with a result an item.',
    ],
  ]);
});

test('an outage of a model is waited out', async () => {
  const bed = await openBed();
  let calls = 0;
  const flaky = {
    modelId: 'flaky@1',
    run: async (items: readonly unknown[]) => {
      calls += 1;
      if (calls === 1) throw new MillraceError('remote_unavailable', 'It does not answer.');
      return items.map(() => 'fine');
    },
  };
  const summary = await bed.run({
    source: logOf([document('a', 1, 'ants')]),
    input: { chain: [{ infer: { name: 'flaky', to: 'metadata.x', model: { own: flaky } } }, chunk, embed] },
  });
  expect(summary.outcomes).toMatchObject({ stored: 1, failed: 0 });
});

test('a document without the field fails with a hint, unless preprocess leaves it alone', async () => {
  const bed = await openBed();
  const step = { name: 'size', field: 'metadata.note', to: 'metadata.size', model: { own: measuring } };
  await bed.run({
    source: logOf([document('a', 1, 'ants')]),
    input: { chain: [{ infer: step }, chunk, embed] },
  });
  const [failure] = await bed.failed();
  expect(failure).toMatchObject({ stage: 'preprocess', error: { code: 'transform_failed' } });
  expect(failure!.error.hint).toContain('preprocess');

  const other = await openBed();
  await other.run({
    source: logOf([document('a', 1, 'ants'), withMetadata('b', 'bees', { note: 'x' })]),
    input: { chain: [{ infer: { ...step, preprocess: (value) => value } }, chunk, embed] },
  });
  expect((await other.content()).chunks.map(({ metadata }) => metadata)).toEqual([
    {},
    { note: 'x', size: { label: 'short', modelId: 'measure@1' } },
  ]);
});

test('a context of each chunk is embedded with it, within what the model reads, and its text stays the slice', async () => {
  const bed = await openBed();
  const seen: unknown[] = [];
  const situate = {
    modelId: 'situate@1',
    run: async (items: readonly unknown[]) => {
      seen.push(...items);
      return items.map(() => 'Zebras. '.repeat(400));
    },
  };
  const text = Array.from(
    { length: 30 },
    (_, n) => `Paragraph ${n} tells of subject ${n} in some words.`,
  ).join('\n\n');
  const chain: Step[] = [
    chunk,
    {
      infer: {
        name: 'situate',
        field: { chunk: 'text', whole: 'document' },
        to: 'context',
        model: { own: situate },
      },
    },
    { infer: { name: 'size', to: 'metadata.size', model: { own: measuring } } },
    embed,
  ];
  const plain = await openBed();
  await plain.run({ source: logOf([document('a', 1, text)]), input: { chain: [chunk, embed] } });
  const notices: string[] = [];
  await bed.run({
    source: logOf([document('a', 1, text)]),
    input: { chain },
    onEvent: (event) => event.type === 'notice' && notices.push(event.code),
  });
  const { chunks } = await bed.content();
  expect(chunks.map((one) => text.slice(one.start, one.end))).toEqual(chunks.map((one) => one.text));
  expect(chunks.map((one) => one.text)).toEqual((await plain.content()).chunks.map((one) => one.text));
  expect(seen).toHaveLength(chunks.length);
  expect(seen[0]).toEqual({ chunk: chunks[0]!.text, whole: text });
  expect(chunks.every(({ tokens }) => tokens > 100 && tokens <= 124)).toBe(true);
  expect(chunks[0]!.metadata).toEqual({ size: { label: 'long', modelId: 'measure@1' } });
  expect(notices).toContain('context_cut');
  const retriever = await bed.retriever({ chain });
  const bare = await plain.retriever({ chain: [chunk, embed] });
  const [found] = await retriever.retrieve('zebras');
  const [without] = await bare.retrieve('zebras');
  expect(found!.score).toBeGreaterThan(without!.score + 0.2);
  await retriever.close();
  await bare.close();
});

test('another model of an infer step is another chain', async () => {
  const bed = await openBed();
  const chainWith = (modelId: string) => ({
    chain: [
      { infer: { name: 'size', to: 'metadata.size', model: { own: { ...measuring, modelId } } } },
      chunk,
      embed,
    ],
  });
  const source = () => logOf([document('a', 1, 'ants')]);
  await bed.run({ source: source(), input: chainWith('measure@1') });
  expect((await bed.run({ source: source(), input: chainWith('measure@1') })).outcomes.unchanged).toBe(1);
  await expect(bed.run({ source: source(), input: chainWith('measure@2') })).rejects.toMatchObject({
    code: 'artifact_mismatch',
    message: expect.stringContaining('measure@2') as string,
  });
});

test('promises among the results of a model fail their items, and end nothing when they are rejected', async () => {
  const bed = await openBed();
  const forgetful = {
    modelId: 'forgetful@1',
    run: async (items: readonly unknown[]) =>
      items.map((item) =>
        item === 'cows' ? 'fine' : (Promise.reject(new Error('late')) as unknown as string),
      ),
  };
  const events: RunEvent[] = [];
  const { outcomes: count } = await bed.run({
    source: logOf([document('a', 1, 'ants'), document('b', 1, 'bees'), document('c', 1, 'cows')]),
    input: { chain: [{ infer: { name: 'x', to: 'metadata.x', model: { own: forgetful } } }, chunk, embed] },
    onEvent: (event) => events.push(event),
  });
  expect(count).toMatchObject({ stored: 1, failed: 2 });
  const messages = events.flatMap((event) => (event.type === 'failed' ? [event.error.message] : []));
  expect(messages).toEqual([expect.stringContaining('a promise'), expect.stringContaining('a promise')]);
});

test.each(['preprocess', 'postprocess'] as const)('a %s that never ends holds up no stop', async (which) => {
  const bed = await openBed();
  const abort = new AbortController();
  const hang = () => {
    abort.abort();
    return new Promise<never>(() => undefined);
  };
  const summary = await bed.run({
    source: logOf([document('a', 1, 'ants')]),
    input: {
      chain: [
        { infer: { name: 'x', to: 'metadata.x', model: { own: measuring }, [which]: hang } },
        chunk,
        embed,
      ],
    },
    abort: abort.signal,
  });
  expect(summary).toMatchObject({ end: 'aborted', outcomes: { stored: 0, failed: 0 } });
});
