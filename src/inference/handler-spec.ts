import { z } from 'zod';
import { classifierOptions } from './handlers/onnx/classifier/options.js';
import { chatOptions } from './handlers/openai/chat/options.js';
import { transformersOptions } from './handlers/transformers/options.js';
import { nameOneHandler } from './name-one-handler.js';
import type { OwnHandler } from './own-handler.js';

/** Handlers of an `infer` step, by name: one of them with its options is a model. */
const inferHandlers = {
  onnx: classifierOptions.optional().describe('Classifies texts by ONNX Runtime.'),
  transformers: transformersOptions
    .optional()
    .describe('Runs any task of transformers.js. Needs the package @xenova/transformers.'),
  openai: chatOptions
    .optional()
    .describe('Asks a chat model behind an OpenAI-compatible API, for text or for JSON of a schema.'),
  own: z
    .custom<OwnHandler>(isOwnHandler, { error: 'expected { modelId, run } (docs/handlers.md)' })
    .superRefine(refuseCounts)
    .optional()
    .describe('A model of one’s own: { modelId, run }. Only in a TypeScript configuration.'),
};

/** A model of an `infer` step as the configuration names it. */
export const handlerSpec = z
  .strictObject(inferHandlers)
  .superRefine(nameOneHandler(Object.keys(inferHandlers), 'onnx: { model: ./topics }'));

export type HandlerSpec = z.infer<typeof handlerSpec>;

/** With less than one of either nothing would ever run. */
function refuseCounts(own: OwnHandler, context: z.RefinementCtx): void {
  if (!isOwnHandler(own)) return;
  const { batchSize, concurrency } = own;
  for (const [name, count] of Object.entries({ batchSize, concurrency }))
    if (count !== undefined && !(Number.isInteger(count) && count >= 1))
      context.addIssue({ code: 'custom', path: [name], message: 'expected a whole number from 1' });
}

function isOwnHandler(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { modelId, run } = value as Partial<OwnHandler>;
  return typeof modelId === 'string' && modelId !== '' && typeof run === 'function';
}
