import { z } from 'zod';
import { MillraceError } from '../../errors/millrace-error.js';

/** The parts of a `tokenizer.json` that decide how text becomes ids; the rest is carried along. */
const schema = z.looseObject({
  added_tokens: z
    .array(z.looseObject({ id: z.int(), content: z.string(), special: z.boolean() }))
    .default([]),
  normalizer: z.looseObject({ type: z.string() }).nullish(),
  pre_tokenizer: z.looseObject({ type: z.string() }).nullish(),
  model: z.looseObject({
    type: z.string().optional(),
    vocab: z.union([z.record(z.string(), z.int()), z.array(z.tuple([z.string(), z.number()]))]),
  }),
});

export type TokenizerFile = z.infer<typeof schema>;

/** @throws MillraceError `model_corrupt` naming the file */
export function parseTokenizerFile(json: string, file: string): TokenizerFile {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (cause) {
    throw corrupt(file, 'it is not JSON', cause);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw corrupt(file, `at ${path.join('.') || 'its root'}: ${message}`);
  }
  return parsed.data;
}

function corrupt(file: string, what: string, cause?: unknown): MillraceError {
  return new MillraceError('model_corrupt', `${file} is not a tokenizer: ${what}.`, {
    cause,
    hint: 'Fetch the model again; the file is the one that the Hugging Face tokenizers library writes.',
  });
}
