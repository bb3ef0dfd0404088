import { z } from 'zod';
import { handlerSpec } from '../inference/handler-spec.js';
import { refuseRouting, routedShape } from '../inference/routed-spec.js';
import type { Postprocess, Preprocess } from '../transforms/infer/infer-step.js';

const source = z
  .string()
  .regex(
    /^(text|document|metadata(\.[^.]+)+)$/,
    'expected text, document, or a place such as metadata.title',
  );

/** A step that puts what a model says of documents, or of chunks, beside them. */
export const inferSchema = z
  .strictObject({
    name: z.string().min(1).describe('What the step is called in messages and in the chain.'),
    version: z
      .string()
      .default('1')
      .describe(
        'Stands for the code of the hooks and of a route function: raise it when they give other results.',
      ),
    field: z
      .union([source, z.record(z.string(), source)])
      .default('text')
      .describe(
        'What the model is given: `text` (of the document, or of the chunk), a place in the metadata, `document` (the whole text), or several of these by name.',
      ),
    to: z
      .string()
      .regex(
        /^(text|context|metadata(\.[^.]+)+)$/,
        'expected text, context, or a place such as metadata.topic',
      )
      .describe(
        'Where the result goes: a place in the metadata; before chunk also `text`, in place of the document’s; after chunk also `context`, put before the chunk where it is embedded.',
      ),
    model: handlerSpec.optional().describe('The model.'),
    ...routedShape(handlerSpec),
    preprocess: z
      .custom<Preprocess>(isFunction, { error: 'expected a function' })
      .optional()
      .describe(
        'Function from the field’s value to the item for the model; undefined for nothing to infer. Only in a TypeScript configuration.',
      ),
    postprocess: z
      .custom<Postprocess>(isFunction, { error: 'expected a function' })
      .optional()
      .describe('Function from what the model gave to the result. Only in a TypeScript configuration.'),
    maxTokens: z
      .int()
      .min(1)
      .default(100)
      .describe('Of a `context`: most tokens; what is over is cut, and chunks leave so much room.'),
  })
  .superRefine((step, context) => refuseRouting(step, step.model !== undefined, context))
  .describe('Puts what a model says of a document, or after chunk of each chunk, into its metadata or text.');

export type InferStepInput = z.output<typeof inferSchema>;

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
