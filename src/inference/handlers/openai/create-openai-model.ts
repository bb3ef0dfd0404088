import type { Clock, Notice } from '../../../contracts/context.js';
import type {
  EmbeddingModel,
  EmbedText,
  ModelIdentity,
  TextRole,
  TokenizerRef,
} from '../../../contracts/embedding-model.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import type { Chance } from '../../../flow/chance.js';
import { checkVector } from '../../check-vector.js';
import { identityDigest } from '../../identity.js';
import { divide } from './divide.js';
import { firstCall } from './first-call.js';
import type { OpenAiOptions } from './options.js';
import { addressOf, shownAddress } from './post-json.js';
import { readEmbeddings } from './read-embeddings.js';
import { createRemoteLane } from './remote-lane.js';

export interface OpenAiModelParts {
  readonly options: OpenAiOptions;
  /** The model's own, where it is known. */
  readonly tokenizer?: TokenizerRef | undefined;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly signal?: AbortSignal | undefined;
  /** Hears when texts can only be measured by their bytes. */
  onNotice?(notice: Notice): void;
}

/** Tokens that a model may put around a text. */
const specialTokens = 2;

const roles: readonly TextRole[] = ['document', 'query'];

interface Encoded {
  /** The text as JSON. */
  readonly json: string;
  readonly bytes: number;
  readonly tokens: number;
}

/**
 * Opens a model behind an OpenAI-compatible API, and embeds a word with it, so that a wrong address, key or name fails
 * here and the width is known.
 * @throws MillraceError `remote_refused`, `remote_unavailable`, `rate_limited`, `inference_failed`, `embedding_invalid`,
 * `config_invalid`
 */
export async function createOpenAiModel(parts: OpenAiModelParts): Promise<EmbeddingModel> {
  const { options, tokenizer, clock, chance, signal: opening = new AbortController().signal } = parts;
  const { url, model, dimensions, encoding, inputType, prompts, maxBatch, headers, timeoutMs } = options;
  const address = addressOf(url, 'embeddings');
  const maxTokens = tokensOfText(options);

  const callOf = (texts: readonly Encoded[], role: TextRole) => ({
    body: bodyOf(texts, role),
    tokens: texts.reduce((sum, { tokens }) => sum + tokens, 0),
    read: (reply: unknown) => readEmbeddings(reply, texts.length, shownAddress(address)),
  });
  const word = encode({ text: 'word' }, '');
  const lane = createRemoteLane({
    ...options,
    address,
    endpoint: { apiKey: options.apiKey, headers, timeoutMs, clock },
    probe: callOf([word], 'document'),
  });
  /** Bytes of a call without its texts. */
  const frame = Math.max(...roles.map((role) => Buffer.byteLength(bodyOf([], role))));
  /** Falls when the service says that a call is too large. */
  let maxBytes = maxBatch.bytes;

  function bodyOf(texts: readonly Encoded[], role: TextRole): string {
    const settings = JSON.stringify({
      model,
      encoding_format: encoding,
      dimensions,
      input_type: inputType?.[role],
    });
    return `${settings.slice(0, -1)},"input":[${texts.map(({ json }) => json).join(',')}]}`;
  }

  async function embedPart(
    texts: readonly Encoded[],
    role: TextRole,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array[]> {
    try {
      return await lane.call(callOf(texts, role), signal);
    } catch (error) {
      if (texts.length === 1 || !(error instanceof MillraceError)) throw error;
      // Smaller parts tell which text it is; one alone is tried a few times before it is given up.
      if (error.code === 'remote_failed')
        throw new MillraceError('inference_failed', error.message, { cause: error.cause });
      if (error.code !== 'item_too_large') throw error;
      maxBytes = Math.min(maxBytes, frame + (sum(texts) >> 1));
      const middle = texts.length >> 1;
      const halves = [texts.slice(0, middle), texts.slice(middle)];
      return (await inTurn(halves, (half) => embedPart(half, role, signal))).flat();
    }
  }

  try {
    const width = await firstCall(open, { clock, chance, signal: opening });
    const identity: ModelIdentity = {
      name: model,
      weights: weightsOf(options),
      tokenizer: 'remote',
      pooling: 'remote',
      normalize: false,
      prompts,
      width,
      dtype: 'remote',
    };
    const modelId = identityDigest(identity);
    if (tokenizer === undefined)
      parts.onNotice?.({
        level: 'info',
        code: 'tokenizer_unknown',
        message: `Texts for ${model} are measured by their bytes; name its tokenizer to have them measured exactly.`,
      });
    return {
      identity,
      tokenizer,
      maxTokens,
      batchInvariant: false,
      concurrency: options.concurrency,
      batching: {
        padded: false,
        tokens: maxBatch.tokens,
        texts: maxBatch.texts,
        maxWaitMs: options.maxWaitMs,
      },
      async embed(texts, role, signal) {
        const encoded = texts.map((text) => encode(text, prompts[role]));
        const limits = { maxBytes: maxBytes - frame, maxCount: maxBatch.texts };
        const calls = divide(encoded, ({ bytes }) => bytes, limits);
        const vectors = await inTurn(calls, (part) => embedPart(part, role, signal));
        return { modelId, width, vectors: vectors.flat() };
      },
      close: async () => lane.close(),
    };
  } catch (error) {
    lane.close();
    throw error;
  }

  async function open(): Promise<number> {
    const [vector] = await lane.call(callOf([word], 'document'), opening);
    const error = checkVector(vector, dimensions ?? vector!.length);
    if (error !== undefined) throw error;
    return vector!.length;
  }
}

/** @throws MillraceError `config_invalid` when the prompt leaves no room */
function tokensOfText({ model, maxTokens, prompts }: OpenAiOptions): number {
  const limit = maxTokens ?? (model.startsWith('text-embedding-') ? 8191 : 512);
  // No tokenizer makes more tokens of a text than it has bytes.
  const left = limit - specialTokens - Buffer.byteLength(prompts.document);
  if (left >= 1) return left;
  throw new MillraceError(
    'config_invalid',
    `The document prompt leaves no room for text: the model ${model} reads ${limit} tokens`,
    { hint: 'Shorten the prompt, or raise maxTokens.' },
  );
}

/** Nobody can hash the weights of a remote model: its name stands for them, with all else that it is told. */
function weightsOf({ model, revision, inputType }: OpenAiOptions): string {
  const told = inputType === undefined ? '' : ` for ${inputType.document} and ${inputType.query}`;
  return `remote ${model}${revision === undefined ? '' : `@${revision}`}${told}`;
}

function encode({ text, ids }: EmbedText, prompt: string): Encoded {
  const json = JSON.stringify(prompt + text);
  const bytes = Buffer.byteLength(json) + 1;
  return { json, bytes, tokens: ids === undefined ? Math.ceil(bytes / 4) : ids.length + specialTokens };
}

function sum(texts: readonly Encoded[]): number {
  return texts.reduce((all, { bytes }) => all + bytes, 0);
}

async function inTurn<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
