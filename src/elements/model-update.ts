import { z } from 'zod';

/** Somebody says that there is a new model. It only names one: which models may be named, the configuration says. */
export const modelUpdateSchema = z.strictObject({
  /** A folder or hub id, written as in the configuration. */
  model: z.string().min(1),
  /** Commit, branch or tag on the hub. */
  revision: z.string().min(1).optional(),
  /** SHA-256 of its weights, hex: another model than this one is refused. */
  weights: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});

export type ModelUpdate = Readonly<z.output<typeof modelUpdateSchema>>;
