import { z } from 'zod';
import { onnxOptions } from './handlers/onnx/options.js';
import { openAiOptions } from './handlers/openai/options.js';
import { staticOptions } from './handlers/static/options.js';
import { nameOneHandler } from './name-one-handler.js';

const handlers = {
  static: staticOptions
    .optional()
    .describe('Averages token vectors: some 100 times faster than a transformer, and less exact.'),
  onnx: onnxOptions.optional().describe('Runs a sentence-transformers model by ONNX Runtime.'),
  openai: openAiOptions
    .optional()
    .describe('Asks an OpenAI-compatible API: OpenAI, a local server, or `millrace serve`.'),
};

/** A model as the configuration names it: one handler with its options. */
export const modelSpec = z
  .strictObject(handlers)
  .superRefine(nameOneHandler(Object.keys(handlers), 'static: { model: bundled }'));

export type ModelSpec = z.infer<typeof modelSpec>;
