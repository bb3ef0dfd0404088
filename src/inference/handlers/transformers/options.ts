import { z } from 'zod';
import { onnxOptions } from '../onnx/options.js';

/** Options of the `transformers` handler of an `infer` step. */
export const transformersOptions = z.strictObject({
  task: z
    .string()
    .regex(/^[a-z0-9-]+$/, { error: 'expected the name of a task, such as "text-classification"' })
    .describe(
      'Any pipeline task of transformers.js: "text-classification", "token-classification", "zero-shot-classification", "summarization" …',
    ),
  model: z.string().min(1).describe('A model with ONNX files for transformers.js: a folder, or a hub id.'),
  revision: z.string().min(1).optional().describe('Commit, branch or tag on the hub. Default: main.'),
  dtype: z
    .enum(['fp32', 'fp16', 'int8', 'uint8', 'q8', 'q4', 'q4f16', 'bnb4'])
    .default('fp32')
    .describe('Which of the model’s ONNX files are run.'),
  options: z
    .record(z.string(), z.json())
    .default({})
    .describe('Options of each call, as the task takes them: { top_k: 3 }, { max_new_tokens: 60 } …'),
  threads: onnxOptions.shape.threads,
});

export type TransformersOptions = z.infer<typeof transformersOptions>;
