import { z } from 'zod';
import { batchingOptions } from '../../batching-options.js';

const deviceName = z.enum(['cpu', 'cuda', 'webgpu']);
const gpu = z.int().min(0).max(63);

/** Options of the `onnx` handler. */
export const onnxOptions = z.strictObject({
  model: z
    .string()
    .min(1)
    .describe(
      'A sentence-transformers model exported to ONNX: a folder, or a hub id such as "Xenova/all-MiniLM-L6-v2".',
    ),
  revision: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Commit, branch or tag on the hub. A branch keeps to the commit that it was first resolved to. Default: main.',
    ),
  dtype: z
    .enum(['fp32', 'fp16', 'int8'])
    .default('fp32')
    .describe(
      'Which export to run. With fp32 the vector of a text does not depend on its batch; int8 is about twice as fast, and its vectors differ a little with the batch (cosine over 0.97) and from fp32 (over 0.95).',
    ),
  device: z
    .union([deviceName, z.array(deviceName).min(1)])
    .default('cpu')
    .describe(
      'Where the model runs. One name: there or not at all. A list: the first that is there, and a warning when that is not the first. `cuda` needs libraries that npm does not carry.',
    ),
  deviceIndex: z
    .union([gpu, z.array(gpu).min(1)])
    .default(0)
    .describe('Which GPU, from 0. A list: each of them runs batches, in a worker of its own.'),
  isolation: z
    .enum(['thread', 'process'])
    .default('thread')
    .describe(
      'Where its workers live. A native crash in a thread takes the whole daemon along; in a process it ends one batch, at the price of some 50 MB a worker.',
    ),
  memoryMb: z
    .int()
    .min(1)
    .optional()
    .describe(
      'Main memory that its workers may take together, in MB of weights; fewer workers run where more do not fit, and the start is refused where not one does. Default: three quarters of the memory of the machine.',
    ),
  threads: z
    .int()
    .min(1)
    .max(256)
    .optional()
    .describe(
      'Threads of each worker inside one batch, at most the cores of the machine. Default: the cores that the workers leave over, at least 1; more workers with one thread each are faster than the reverse.',
    ),
  batching: batchingOptions
    .optional()
    .describe('Bounds for the size of batches, which is found at run time. The defaults suit most.'),
  prompts: z
    .strictObject({
      document: z.string().optional().describe('Put before every text that is stored.'),
      query: z.string().optional().describe('Put before every query.'),
    })
    .default({})
    .describe(
      'Overrides the prompts in the model\'s files. Some models name theirs on their card only (E5: "passage: " and "query: ").',
    ),
  pooling: z
    .enum(['mean', 'cls', 'max', 'last'])
    .optional()
    .describe(
      "How token vectors become one vector, for exports whose files do not say. Default: what the model's files say, else mean.",
    ),
  maxTokens: z
    .int()
    .min(8)
    .optional()
    .describe(
      "Longest sequence in tokens, special tokens and prompt included. Default: what the model's files say.",
    ),
});

export type OnnxOptions = z.infer<typeof onnxOptions>;
