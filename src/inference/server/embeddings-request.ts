import { z } from 'zod';
import type { TextRole } from '../../contracts/embedding-model.js';
import { ApiError } from './api-error.js';

/** What a client asks for, checked. */
export interface EmbeddingsRequest {
  readonly model: string;
  readonly texts: readonly string[];
  /** What the client calls a text: `input`, or `input[3]` of a list. */
  placeOf(at: number): string;
  readonly role: TextRole;
  readonly form: 'float' | 'base64';
  readonly dimensions: number | undefined;
}

/** Several clients say null where others say nothing. */
const schema = z.strictObject({
  model: z
    .string({ error: 'expected the name of a model, as GET /v1/models lists them' })
    .min(1, 'expected the name of a model, as GET /v1/models lists them'),
  input: z.union([z.string(), z.array(z.unknown())], { error: 'expected a text or a list of texts' }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.int().min(1).nullish(),
  input_type: z.enum(['document', 'query']).nullish(),
  user: z.string().nullish(),
});

/**
 * Reads the body of `POST /v1/embeddings` as OpenAI's API has it; `input_type` is `document` unless it says `query`.
 * @throws ApiError 400 that names what is wrong
 */
export function readEmbeddingsRequest(body: string, maxTexts: number): EmbeddingsRequest {
  const { model, input, encoding_format: form, dimensions, input_type: role } = checked(body);
  const texts = typeof input === 'string' ? [input] : input;
  if (texts.length === 0) throw invalid('input', 'input must not be an empty list.');
  if (texts.length > maxTexts)
    throw invalid(
      'input',
      `input holds ${texts.length} texts; at most ${maxTexts} are taken in one request.`,
    );
  const placeOf = (at: number) => (typeof input === 'string' ? 'input' : `input[${at}]`);
  texts.forEach((text, at) => {
    if (typeof text === 'string' && text.trim() !== '') return;
    const place = placeOf(at);
    if (typeof text === 'string') throw invalid('input', `${place} is blank: it has nothing to embed.`);
    throw invalid(
      'input',
      `${place} must be a text. Token ids are not taken: they belong to the tokenizer of another model.`,
    );
  });
  return {
    model,
    texts: texts as string[],
    placeOf,
    role: role ?? 'document',
    form: form ?? 'float',
    dimensions: dimensions ?? undefined,
  };
}

function checked(body: string): z.output<typeof schema> {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    throw new ApiError(400, 'invalid_json', 'The body is not JSON.');
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  if (issue.code === 'unrecognized_keys')
    throw invalid(
      issue.keys[0]!,
      `${issue.keys[0]} is not known here. Known: ${Object.keys(schema.shape).join(', ')}.`,
    );
  const path = issue.path.join('.');
  throw invalid(path === '' ? null : path, `${path === '' ? 'The body' : path}: ${issue.message}.`);
}

function invalid(param: string | null, message: string): ApiError {
  return new ApiError(400, 'invalid_value', message, { param });
}
