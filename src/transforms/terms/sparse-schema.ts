import { z } from 'zod';

/** Settings of a search by words. They take effect when a question is asked: what is stored does not depend on them. */
export const sparseSchema = z
  .strictObject({
    bm25: z
      .strictObject({
        k1: z
          .number()
          .min(0)
          .max(10)
          .default(1.2)
          .describe('How soon more occurrences of a word in a chunk stop counting.'),
        b: z
          .number()
          .min(0)
          .max(1)
          .default(0.75)
          .describe('How far chunks longer than the mean are held back.'),
      })
      .describe('Rank by BM25. Words, no stemming; two characters each where a script has no spaces.'),
  })
  .describe(
    'Keeps the words of each chunk beside its vectors, so that `query --mode sparse` and `--mode hybrid` find by them.',
  );

export type SparseSpec = z.output<typeof sparseSchema>;

export const defaultSparse: SparseSpec = sparseSchema.parse({ bm25: {} });
