import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** What goes wrong with one request. */
export type OpenAiFault =
  /** The items come in another order, with their true indexes. */
  | { readonly kind: 'shuffled' }
  /** The items come in their order without indexes; `drop` leaves so many out. */
  | { readonly kind: 'no-index'; readonly drop?: number }
  /** The first item carries this index; null: it alone has none. */
  | { readonly kind: 'index'; readonly index: number | null }
  /** The last item is left out. */
  | { readonly kind: 'short' }
  /** Every component of every item but the longest text is null when the texts are not equally long. */
  | { readonly kind: 'ragged-nulls' }
  /** The component `at` of every item is this. */
  | { readonly kind: 'component'; readonly at: number; readonly value: number | null }
  /** Vectors of this width. */
  | { readonly kind: 'width'; readonly width: number }
  /** Vectors in this form whatever was asked for. */
  | { readonly kind: 'form'; readonly form: 'float' | 'base64' }
  /** HTTP 200 with this body. */
  | { readonly kind: 'body'; readonly body: string }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly retryAfter?: string;
      readonly message?: string;
      readonly code?: string;
    }
  /** No answer, ever. */
  | { readonly kind: 'hang' }
  /** The connection breaks in the middle of the answer. */
  | { readonly kind: 'cut' }
  /** What the chat model says, and why it stopped. */
  | { readonly kind: 'says'; readonly content: string; readonly finish?: 'stop' | 'length' }
  | { readonly kind: 'refusal'; readonly refusal: string };

export interface OpenAiRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Texts to embed; for a chat the contents of its messages. */
  readonly texts: readonly string[];
}

export interface OpenAiDouble {
  /** Ends in `/v1`. */
  readonly url: string;
  readonly requests: readonly OpenAiRequest[];
  /** Requests that were cut off by the caller before they were answered. */
  readonly aborted: number;
  /** Most requests that were open at once. */
  readonly mostOpen: number;
  /** Faults of the next requests, in order; undefined lets one pass. */
  fail(...faults: (OpenAiFault | undefined)[]): void;
  /** Looks at every request that has no fault of `fail`. */
  judge(fault: (request: OpenAiRequest) => OpenAiFault | undefined): void;
  close(): Promise<void>;
}

export interface OpenAiOptions {
  /** Every request must carry it. */
  readonly key?: string;
  /** Width of the vectors where no `dimensions` are asked for. Default 8. */
  readonly width?: number;
  /** Texts of one request at most. Default 2048, as the real one. */
  readonly maxTexts?: number;
  /** A larger body is answered by 413. */
  readonly maxBytes?: number;
  /** Milliseconds before an answer. */
  readonly delayMs?: number;
  /** Whether `input_type` is known here. The real one refuses it. */
  readonly inputTypes?: boolean;
  /** What the chat model answers. Default: the last message. */
  chat?(messages: readonly { role: string; content: string }[]): string;
}

/** The vector that the double gives for a text: unlike any other's, of length 1. */
export function openAiVector(text: string, width = 8): number[] {
  const raw = Array.from({ length: width }, (_, at) => {
    const bytes = createHash('sha256').update(`${at} ${text}`).digest();
    return bytes.readInt32LE(0) / 2 ** 31;
  });
  const norm = Math.hypot(...raw);
  return raw.map((component) => Math.fround(component / norm));
}

const embeddingsBody = (inputTypes: boolean) =>
  z.strictObject({
    model: z.string().min(1),
    input: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    encoding_format: z.enum(['float', 'base64']).optional(),
    dimensions: z.int().min(1).optional(),
    user: z.string().optional(),
    ...(inputTypes && { input_type: z.string().optional() }),
  });

const chatBody = z.strictObject({
  model: z.string().min(1),
  messages: z
    .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
    .min(1),
  temperature: z.number().min(0).max(2).optional(),
  max_completion_tokens: z.int().min(1).optional(),
  response_format: z
    .union([
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({
          name: z.string().regex(/^[\w-]{1,64}$/),
          strict: z.boolean().optional(),
          schema: z.looseObject({ type: z.literal('object') }),
        }),
      }),
    ])
    .optional(),
});

/**
 * Stands in for an OpenAI-compatible API on loopback: embeddings and chat completions. What the real one refuses
 * (unknown fields, empty texts, too many of them, another key) it refuses too, with a body of the same shape.
 */
export async function startOpenAi(options: OpenAiOptions = {}): Promise<OpenAiDouble> {
  const { key, width = 8, maxTexts = 2048, maxBytes = Infinity, delayMs = 0, inputTypes = false } = options;
  const requests: OpenAiRequest[] = [];
  const faults: (OpenAiFault | undefined)[] = [];
  let judge: (request: OpenAiRequest) => OpenAiFault | undefined = () => undefined;
  let [open, mostOpen, aborted] = [0, 0, 0];

  const server = createServer((request, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once('close', () => {
      open -= 1;
      if (!response.writableFinished) aborted += 1;
    });
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    const path = request.url ?? '/';
    const embeddings = path === '/v1/embeddings';
    if (request.method !== 'POST' || !(embeddings || path === '/v1/chat/completions'))
      return refuse(response, 404, `Unknown request URL: ${request.method} ${path}.`);
    const { authorization } = request.headers;
    if (key !== undefined && authorization !== `Bearer ${key}`)
      return refuse(response, 401, `Incorrect API key provided: ${authorization}.`, 'invalid_api_key');
    if (bytes.length > maxBytes) return refuse(response, 413, 'Payload too large.');
    if (request.headers['content-type'] !== 'application/json')
      return refuse(response, 415, 'Expected application/json.');
    const checked = (embeddings ? embeddingsBody(inputTypes) : chatBody).safeParse(parsed(bytes));
    if (!checked.success) return refuse(response, 400, checked.error.issues[0]!.message);
    const body = checked.data as Record<string, unknown>;
    const texts = embeddings
      ? [body['input'] as string | string[]].flat()
      : (body['messages'] as { content: string }[]).map(({ content }) => content);
    if (texts.length > maxTexts)
      return refuse(response, 400, `At most ${maxTexts} inputs, not ${texts.length}.`);
    const noted = { path, authorization, headers: request.headers, bytes: bytes.length, body, texts };
    requests.push(noted);
    const fault = faults.length > 0 ? faults.shift() : judge(noted);
    if (delayMs > 0) await new Promise((done) => setTimeout(done, delayMs));
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'status')
      return refuse(response, fault.status, fault.message ?? 'Told to fail.', fault.code, fault.retryAfter);
    const reply = fault?.kind === 'body' ? fault.body : JSON.stringify(embeddings ? embed() : chat());
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(reply),
    });
    if (fault?.kind === 'cut') response.write(reply.slice(0, reply.length >> 1), () => response.destroy());
    else response.end(reply);

    function embed() {
      const wide =
        fault?.kind === 'width' ? fault.width : ((body['dimensions'] as number | undefined) ?? width);
      const asked = body['encoding_format'] as 'float' | 'base64' | undefined;
      const form = fault?.kind === 'form' ? fault.form : (asked ?? 'float');
      const longest = Math.max(...texts.map(({ length }) => length));
      let data: { object: string; index?: number | null; embedding: unknown }[] = texts.map((text, index) => {
        const vector: (number | null)[] = openAiVector(text, wide);
        if (fault?.kind === 'component') vector[fault.at] = fault.value;
        if (fault?.kind === 'ragged-nulls' && text.length < longest) vector.fill(null);
        const embedding =
          form === 'float'
            ? vector
            : Buffer.from(Float32Array.from(vector as number[]).buffer).toString('base64');
        return { object: 'embedding', index, embedding };
      });
      if (fault?.kind === 'shuffled') data = [...data.slice(1).reverse(), data[0]!];
      if (fault?.kind === 'index') data[0]!.index = fault.index;
      if (fault?.kind === 'short') data.pop();
      if (fault?.kind === 'no-index')
        data = data.slice(fault.drop ?? 0).map(({ object, embedding }) => ({ object, embedding }));
      return { object: 'list', data, model: body['model'], usage: usage() };
    }

    function chat() {
      const messages = body['messages'] as { role: string; content: string }[];
      const said = options.chat?.(messages) ?? messages.at(-1)!.content;
      const content = fault?.kind === 'says' ? fault.content : fault?.kind === 'refusal' ? null : said;
      const message = {
        role: 'assistant',
        content,
        refusal: fault?.kind === 'refusal' ? fault.refusal : null,
      };
      const finish_reason = (fault?.kind === 'says' ? fault.finish : undefined) ?? 'stop';
      const choices = [{ index: 0, message, finish_reason }];
      return { id: 'chat-1', object: 'chat.completion', model: body['model'], choices, usage: usage() };
    }

    /** A token for four characters. */
    function usage() {
      const tokens = texts.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
      return { prompt_tokens: tokens, total_tokens: tokens };
    }
  }

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get aborted() {
      return aborted;
    },
    get mostOpen() {
      return mostOpen;
    },
    fail: (...next) => void faults.push(...next),
    judge: (next) => void (judge = next),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  code?: string,
  after?: string,
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(after !== undefined && { 'retry-after': after }),
  });
  response.end(
    JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: code ?? null } }),
  );
}
