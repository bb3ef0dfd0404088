import { z } from 'zod';

/** Options of the `static` handler. */
export const staticOptions = z.strictObject({
  model: z
    .string()
    .min(1)
    .default('bundled')
    .describe(
      'A model of token vectors (model2vec): "bundled" (English, comes with the package), a folder, or a hub id such as "minishlab/potion-base-8M".',
    ),
  revision: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Commit, branch or tag on the hub. A branch keeps to the commit that it was first resolved to. Default: main.',
    ),
  prompts: z
    .strictObject({
      document: z.string().optional().describe('Put before every text that is stored.'),
      query: z.string().optional().describe('Put before every query.'),
    })
    .default({})
    .describe('Texts put before every other; none by default.'),
});

export type StaticOptions = z.infer<typeof staticOptions>;
