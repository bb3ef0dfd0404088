import { z } from 'zod';

const printable = /^[\x21-\x7e]+$/;

/** How any model behind an OpenAI-compatible API is reached. */
export const endpointOptions = {
  url: z
    .url({ protocol: /^https?$/ })
    .refine((url) => new URL(url).username === '' && new URL(url).password === '', {
      error: 'a password in the address would be logged: use apiKey or headers',
    })
    .default('https://api.openai.com/v1')
    .describe(
      'Address of the API, version included, such as "http://localhost:8080/v1". A query goes with every call.',
    ),
  model: z.string().min(1).describe('Name of the model as the API knows it.'),
  apiKey: z
    .string()
    .regex(printable, 'expected printable ASCII without blanks')
    .optional()
    .describe('Sent as a bearer token. Take it from the environment: ${OPENAI_API_KEY}.'),
  headers: z
    .record(z.string().regex(/^[\w-]+$/), z.string().regex(/^[\x20-\x7e]*$/, 'expected printable ASCII'))
    .default({})
    .describe('More headers of every call. Their values are kept out of errors and logs.'),
  rpm: z.int().min(1).optional().describe('Calls a minute at most. Default: no limit.'),
  tpm: z.int().min(1).optional().describe('Tokens a minute at most. Default: no limit.'),
  concurrency: z.int().min(1).max(1_000).default(4).describe('Calls under way at once.'),
  timeoutMs: z
    .int()
    .min(1)
    .max(3_600_000)
    .default(60_000)
    .describe('A call without its whole answer after so long is cut off and tried again.'),
};

/** Options of the `openai` handler for embeddings. */
export const openAiOptions = z.strictObject({
  ...endpointOptions,
  revision: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Part of the model’s identity: change it when the model behind the name changes. Any text; it is not sent.',
    ),
  dimensions: z
    .int()
    .min(1)
    .max(65_536)
    .optional()
    .describe('Asks for vectors of this width. Default: what the model gives.'),
  encoding: z
    .enum(['float', 'base64'])
    .default('float')
    .describe(
      'The form of vectors that is asked for; either is understood. base64 is faster where it is known.',
    ),
  inputType: z
    .strictObject({
      document: z.string().min(1).describe('For every text that is stored.'),
      query: z.string().min(1).describe('For every query.'),
    })
    .optional()
    .describe(
      'Sent as `input_type`, for servers that give documents and queries different vectors; `millrace serve` knows document and query. Default: not sent.',
    ),
  prompts: z
    .strictObject({
      document: z.string().default('').describe('Put before every text that is stored.'),
      query: z.string().default('').describe('Put before every query.'),
    })
    .prefault({})
    .describe('For models whose server does not put their prompts before the text itself.'),
  tokenizer: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Where the model’s tokenizer is: a folder with tokenizer.json, or a hub id. With it chunks are measured exactly; without it by their bytes, so that none is ever over maxTokens.',
    ),
  maxTokens: z
    .int()
    .min(8)
    .optional()
    .describe(
      'Tokens of one text that the model reads. Default: 8191 for text-embedding-… models, 512 for others.',
    ),
  maxWaitMs: z
    .number()
    .min(0)
    .max(60_000)
    .default(50)
    .describe(
      'How long, in ms, a call that is not full may wait for more texts while another is under way: fewer calls, of which providers count each.',
    ),
  maxBatch: z
    .strictObject({
      texts: z.int().min(1).max(10_000).default(128).describe('Texts of one call at most.'),
      tokens: z.int().min(1).default(100_000).describe('Tokens of one call at most.'),
      bytes: z
        .int()
        .min(1_024)
        .default(4 * 1024 * 1024)
        .describe('Bytes of one call at most. It is lowered when the server says that a call is too large.'),
    })
    .prefault({})
    .describe('What the provider takes in one call.'),
});

export type OpenAiOptions = z.infer<typeof openAiOptions>;
