import { z } from 'zod';
import { onnxOptions } from '../options.js';

/** Options of the `onnx` handler of an `infer` step. */
export const classifierOptions = z.strictObject({
  model: z.string().min(1).describe('A text classification model exported to ONNX: a folder, or a hub id.'),
  revision: onnxOptions.shape.revision,
  dtype: onnxOptions.shape.dtype.describe('Which export to run.'),
  device: onnxOptions.shape.device,
  deviceIndex: onnxOptions.shape.deviceIndex,
  isolation: onnxOptions.shape.isolation,
  memoryMb: onnxOptions.shape.memoryMb,
  threads: onnxOptions.shape.threads,
  maxTokens: z
    .int()
    .min(8)
    .optional()
    .describe(
      "Longest sequence in tokens, special tokens included; longer texts are cut, with a notice. Default: what the model's files say.",
    ),
  threshold: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe('Labels from this score on are in `labels`, for models that give a text several.'),
  scores: z.boolean().default(false).describe('Whether the scores of all labels are kept too.'),
});

export type ClassifierOptions = z.infer<typeof classifierOptions>;
