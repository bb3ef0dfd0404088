import { z } from 'zod';
import { duration } from '../elements/duration.js';

export const generationsSchema = z.strictObject({
  onNewSpace: z
    .enum(['hold', 'reindex'])
    .default('hold')
    .describe(
      '"hold": a run with another model than that which filled the store is refused. "reindex": it first fills a new generation from the stored texts, while the old one is read, and switches to it. So too for a model that a refresh finds: "hold" keeps the old one and says so; "reindex" fills a generation while the run goes on, switches by the same gates, and goes on with the new one.',
    ),
  canaries: z
    .array(z.string().trim().min(1))
    .default([])
    .describe(
      'Questions of your own that a new generation is asked before a switch, beside the active one: how far both give the same ten documents is told, question by question.',
    ),
  minOverlap: z
    .number()
    .min(0)
    .max(1)
    .default(0.2)
    .describe(
      'Share, 0 to 1, that a new generation must have in common with the active one before a switch, of the neighbours of 50 documents and, by itself, of what the canaries find: two good models share a good part, a broken one next to nothing.',
    ),
  rate: z
    .number()
    .positive()
    .optional()
    .describe('Documents a second that a filling takes over at most. Default: no limit.'),
  keep: duration
    .prefault('1d')
    .describe('How long a generation that was switched off is kept, and kept ready to be switched back to.'),
});
