import { createHash } from 'node:crypto';
import type { ModelHandler } from '../../../../contracts/model-handler.js';
import { canonicalJson } from '../../../../elements/canonical-json.js';
import type { Json } from '../../../../elements/metadata.js';
import { MillraceError } from '../../../../errors/millrace-error.js';
import { firstCall, type Patience } from '../first-call.js';
import { addressOf, shownAddress } from '../post-json.js';
import { createRemoteLane, type RemoteCall } from '../remote-lane.js';
import { answerSchema } from './answer-schema.js';
import { fillPrompt } from './fill-prompt.js';
import type { ChatOptions } from './options.js';
import { readAnswer } from './read-answer.js';

export interface ChatParts extends Patience {
  readonly options: ChatOptions;
}

/** An answer that does not fit its schema is asked for once more. */
const tries = 2;

const charactersPerToken = 4;

/**
 * Opens a chat model behind an OpenAI-compatible API. An item is what the prompt is filled with; its result is the answer
 * as text or, with a schema, as JSON that was checked. One call an item.
 * @throws MillraceError `remote_refused`, `remote_unavailable`, `rate_limited`
 */
export async function createChatHandler({
  options,
  ...patience
}: ChatParts): Promise<ModelHandler<Json, Json>> {
  const { url, model, system, prompt, schema, temperature, maxTokens, headers, timeoutMs } = options;
  const address = addressOf(url, 'chat/completions');
  const format =
    schema === undefined
      ? {}
      : { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } } };

  function callOf(question: string): RemoteCall<string> {
    const messages = [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: question },
    ];
    const settings = { temperature, max_completion_tokens: maxTokens };
    return {
      body: JSON.stringify({ model, messages, ...settings, ...format }),
      tokens: Math.ceil(((system?.length ?? 0) + question.length) / charactersPerToken) + maxTokens,
      read: (reply) => readAnswer(reply, shownAddress(address)),
    };
  }

  const lane = createRemoteLane({
    ...options,
    address,
    endpoint: { apiKey: options.apiKey, headers, timeoutMs, clock: patience.clock },
    probe: callOf('Say "yes".'),
  });
  try {
    await firstCall(() => lane.reach(patience.signal), patience);
  } catch (error) {
    lane.close();
    throw error;
  }

  const told = { model, revision: options.revision, system, prompt, schema, temperature, maxTokens };
  const modelId = `${model}@${createHash('sha256')
    .update(canonicalJson(asJson(told)))
    .digest('hex')
    .slice(0, 16)}`;
  const check = schema === undefined ? undefined : answerSchema(schema).check;

  async function answer(item: Json, signal: AbortSignal): Promise<Json> {
    const call = callOf(fillPrompt(prompt, item));
    if (check === undefined) return lane.call(call, signal);
    for (let left = tries - 1; ; left -= 1) {
      const text = await lane.call(call, signal);
      const value = parsed(text);
      const fault = value === undefined ? 'it is no JSON' : check(value);
      if (fault === undefined) return value!;
      if (left === 0)
        throw new MillraceError('inference_failed', `The answer does not fit its schema: ${fault}.`, {
          hint: 'Say in the prompt what is wanted, or choose a model that keeps to schemas.',
        });
    }
  }

  return {
    modelId,
    concurrency: options.concurrency,
    batching: { items: 1, cost: 1, costOf: () => 1, padded: false },
    run: async (items, signal) => ({
      modelId,
      results: await Promise.all(items.map((item) => answer(item, signal))),
    }),
    close: async () => lane.close(),
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Without what is undefined. */
function asJson(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}
