import { z } from 'zod';
import { endpointOptions } from '../options.js';
import { answerSchema } from './answer-schema.js';

/** Options of the `openai` handler of an `infer` step. */
export const chatOptions = z.strictObject({
  ...endpointOptions,
  revision: z
    .string()
    .min(1)
    .optional()
    .describe('Change it when the model behind the name changes. Any text; it is not sent.'),
  system: z.string().min(1).optional().describe('What the model is told first.'),
  prompt: z
    .string()
    .regex(/\{\{\s*[\w.]+\s*\}\}/, 'has no {{text}}: the model would be told nothing of the document')
    .default('{{text}}')
    .describe(
      'What the model is asked. `{{text}}` is the field; where a step has several fields, `{{name}}` is the one of that name.',
    ),
  schema: z
    .record(z.string(), z.json())
    .superRefine((schema, context) => {
      const fault = answerSchema(schema).fault;
      if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
    })
    .optional()
    .describe(
      'JSON Schema of an object: the answer is asked for in this form, checked against it, and kept as JSON. OpenAI wants every property `required` and `additionalProperties: false`. Default: the answer is text.',
    ),
  temperature: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('0 for answers that vary least. Default: not sent, as some models refuse it.'),
  maxTokens: z
    .int()
    .min(1)
    .default(1_024)
    .describe('Tokens of an answer at most. One that is cut there fails its element.'),
});

export type ChatOptions = z.infer<typeof chatOptions>;
