import { z } from 'zod';
import { onnxOptions } from './handlers/onnx/options.js';
import { openAiOptions } from './handlers/openai/options.js';
import { staticOptions } from './handlers/static/options.js';
import { nameOneHandler } from './name-one-handler.js';

const localHandlers = {
  static: staticOptions
    .optional()
    .describe('Averages token vectors: some 100 times faster than a transformer, and less exact.'),
  onnx: onnxOptions.optional().describe('Runs a sentence-transformers model by ONNX Runtime.'),
};

const handlers = {
  ...localHandlers,
  openai: openAiOptions
    .optional()
    .describe('Asks an OpenAI-compatible API: OpenAI, a local server, or `millrace serve`.'),
};

const example = 'static: { model: bundled }';

/** A model as the configuration names it: one handler with its options. */
export const modelSpec = z.strictObject(handlers).superRefine(nameOneHandler(Object.keys(handlers), example));

/** A model that runs in this process. */
export const localModelSpec = z
  .strictObject(localHandlers)
  .superRefine(nameOneHandler(Object.keys(localHandlers), example));

export type ModelSpec = z.infer<typeof modelSpec>;
