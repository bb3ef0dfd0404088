import { afterEach, describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/elements/metadata.js';
import { MillraceError } from '../../../../src/errors/millrace-error.js';
import { systemClock } from '../../../../src/flow/system-clock.js';
import { createChatHandler } from '../../../../src/inference/handlers/openai/chat/create-chat-handler.js';
import { chatOptions } from '../../../../src/inference/handlers/openai/chat/options.js';
import type { ModelHandler } from '../../../../src/contracts/model-handler.js';
import { startOpenAi, type OpenAiDouble } from '../../../support/openai.js';

let api: OpenAiDouble;
let open: ModelHandler<Json, Json>[] = [];
const { signal } = new AbortController();

afterEach(async () => {
  for (const handler of open) await handler.close();
  open = [];
  await api.close();
});

async function handler(options: object = {}): Promise<ModelHandler<Json, Json>> {
  const created = await createChatHandler({
    options: chatOptions.parse({ url: api.url, model: 'talker', ...options }),
    clock: systemClock,
    chance: () => 0,
    signal,
  });
  open.push(created);
  return created;
}

const schema = {
  type: 'object',
  properties: { label: { type: 'string', enum: ['good', 'bad'] } },
  required: ['label'],
  additionalProperties: false,
};

async function failure(work: Promise<unknown>): Promise<MillraceError> {
  const error = await work.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(MillraceError);
  return error as MillraceError;
}

describe('a chat model', () => {
  test('is asked the prompt with the item in it, and its answer is the result', async () => {
    api = await startOpenAi({ chat: (messages) => `heard: ${messages.at(-1)!.content}` });
    const talker = await handler({
      system: 'Be brief.',
      prompt: 'Sum up: {{text}}',
      temperature: 0,
      maxTokens: 50,
    });
    const { modelId, results } = await talker.run(['Mills grind.'], signal);
    expect(results).toEqual(['heard: Sum up: Mills grind.']);
    expect(modelId).toBe(talker.modelId);
    expect(api.requests.at(-1)!.body).toEqual({
      model: 'talker',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Sum up: Mills grind.' },
      ],
      temperature: 0,
      max_completion_tokens: 50,
    });
  });

  test('is given several fields by name; what a document holds is never a placeholder', async () => {
    api = await startOpenAi();
    const talker = await handler({ prompt: '{{ chunk }} of {{whole}} by {{meta}}' });
    const item = { chunk: '{{whole}} $& $1', whole: 'all', meta: { by: ['me'] } };
    expect((await talker.run([item], signal)).results).toEqual(['{{whole}} $& $1 of all by {"by":["me"]}']);
    const error = await failure(talker.run([{ chunk: 'a' }], signal));
    expect(error).toMatchObject({ code: 'inference_failed', message: expect.stringContaining('{{whole}}') });
  });

  test('with a schema is asked for JSON of it, and gives it checked', async () => {
    api = await startOpenAi({ chat: () => '{"label":"good"}' });
    const talker = await handler({ schema });
    expect((await talker.run(['ants'], signal)).results).toEqual([{ label: 'good' }]);
    expect(api.requests.at(-1)!.body['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', strict: true, schema },
    });
  });

  test.each([
    ['no JSON', 'good'],
    ['another label', '{"label":"fine"}'],
    ['more than was asked for', '{"label":"good","why":"because"}'],
  ])('whose answer is %s is asked once more, then it is a failure', async (_, content) => {
    api = await startOpenAi({ chat: () => '{"label":"bad"}' });
    const talker = await handler({ schema });
    const wrong = { kind: 'says', content } as const;
    api.fail(wrong);
    expect((await talker.run(['ants'], signal)).results).toEqual([{ label: 'bad' }]);
    api.fail(wrong, wrong);
    expect(await failure(talker.run(['ants'], signal))).toMatchObject({
      code: 'inference_failed',
      message: expect.stringContaining('does not fit its schema'),
    });
  });

  test.each([
    ['refuses', { kind: 'refusal', refusal: 'I would rather not.' }, 'I would rather not.'],
    ['is cut', { kind: 'says', content: 'Mills gr', finish: 'length' }, 'cut'],
    ['says nothing', { kind: 'says', content: '' }, 'nothing'],
  ] as const)('that %s fails its item', async (_, fault, told) => {
    api = await startOpenAi();
    const talker = await handler();
    api.fail(fault);
    const error = await failure(talker.run(['ants'], signal));
    expect(error.code).toBe('inference_failed');
    expect(error.message).toContain(told);
  });

  test('tells one item that cannot be served from an outage', async () => {
    api = await startOpenAi();
    const talker = await handler();
    api.judge(({ texts }) => (texts.includes('poison') ? { kind: 'status', status: 500 } : undefined));
    expect((await failure(talker.run(['poison'], signal))).code).toBe('remote_failed');
    api.judge(() => ({ kind: 'body', body: '{"choices":[]}' }));
    expect((await failure(talker.run(['ants'], signal))).code).toBe('remote_unavailable');
  });

  test('with a refused key does not open; one that only dislikes the probe does', async () => {
    api = await startOpenAi({ key: 'right' });
    expect((await failure(handler({ apiKey: 'wrong' }))).code).toBe('remote_refused');
    api.fail({ kind: 'status', status: 400 });
    expect((await handler({ apiKey: 'right' })).modelId).toMatch(/^talker@/);
  });

  test('has another id for every setting that may change its answers, and none for the others', async () => {
    api = await startOpenAi();
    const ids = [];
    for (const options of [
      {},
      { prompt: 'Label {{text}}' },
      { system: 'Be kind.' },
      { schema },
      { temperature: 1 },
      { revision: '2' },
      { maxTokens: 5 },
      { model: 'other' },
    ])
      ids.push((await handler(options)).modelId);
    expect(new Set(ids).size).toBe(ids.length);
    expect((await handler({ rpm: 100, concurrency: 2, headers: { 'x-a': 'b' } })).modelId).toBe(ids[0]);
  });
});

test('options that cannot work are refused: a prompt without a document, a schema that cannot be checked', () => {
  const issues = (options: object) =>
    chatOptions.safeParse({ url: 'http://a/v1', model: 'talker', ...options }).error?.issues ?? [];
  expect(issues({})).toEqual([]);
  expect(issues({ prompt: 'Say something' })).toHaveLength(1);
  expect(issues({ schema: { type: 'string' } })[0]!.message).toContain('of an object');
  expect(issues({ schema: { type: 'object', unevaluatedProperties: false } })[0]!.message).toContain(
    'cannot be checked',
  );
});
