import { z } from 'zod';
import type { ChunkerSpec } from './chunker.js';
import { limitConflict } from './limits.js';
import type { MarkdownOptions } from './markdown.js';
import type { RecursiveOptions } from './recursive.js';
import { messageOf } from '../../errors/message-of.js';

const whole = (least: number) =>
  z
    .int({ error: `must be a whole number of at least ${least}` })
    .min(least, { error: `must be at least ${least}` });

const limitShape = {
  maxTokens: whole(1).optional().describe('Most tokens of a passage, prefix included. Default 256.'),
  overlap: whole(0)
    .optional()
    .describe(
      'Most tokens of the end of a passage that the next one repeats; less than maxTokens. Default 0.',
    ),
  minTokens: whole(0)
    .optional()
    .describe(
      'A passage of fewer tokens is not ended for the sake of a better break; at most maxTokens. Default a quarter of maxTokens.',
    ),
};

const pattern = z
  .strictObject({
    pattern: z.string().min(1).describe('Source of a regular expression.'),
    flags: z
      .string()
      .regex(/^[imsuv]*$/, { error: 'may hold the flags i, m, s, u and v' })
      .optional()
      .describe('Its flags.'),
  })
  .superRefine((separator, context) => {
    try {
      new RegExp(separator.pattern, separator.flags);
    } catch (cause) {
      const reason = messageOf(cause);
      context.addIssue({
        code: 'custom',
        path: ['pattern'],
        message: `is not a regular expression: ${reason}`,
      });
    }
  });

const recursive = z
  .strictObject({
    ...limitShape,
    separators: z
      .array(z.union([z.string().min(1, { error: 'must not be empty' }), pattern]))
      .min(1)
      .optional()
      .describe(
        'What to break after, best first, in place of blank line, line end, sentence, clause and word: text, or { pattern, flags }.',
      ),
  })
  .superRefine(refuseConflict)
  .describe('Splits any text by length in tokens, at the best break near the end of each passage.');

const markdown = z
  .strictObject({
    ...limitShape,
    mergeSections: z
      .boolean()
      .optional()
      .describe(
        'Whether neighbouring sections under the same parent share a passage as long as they fit. Default true.',
      ),
    headingPrefix: z
      .boolean()
      .optional()
      .describe('Whether the titles above a passage are embedded with it, within maxTokens. Default false.'),
  })
  .superRefine(refuseConflict)
  .describe(
    'Splits Markdown at headings, else between blocks; code fences and tables stay whole where they fit.',
  );

/** A chunker as a configuration file names it: `{ markdown: { ... } }` or `{ recursive: { ... } }`. */
export const chunkerSchema = z
  .strictObject({ markdown: markdown.optional(), recursive: recursive.optional() })
  // One object and not a union of two: so that a fault is told at its own key.
  .superRefine((spec, context) => {
    if ((spec.markdown === undefined) === (spec.recursive === undefined)) {
      context.addIssue({
        code: 'custom',
        message: 'must be { markdown: { ... } } or { recursive: { ... } }',
      });
    }
  }) as unknown as z.ZodType<ChunkerSpec>;

/** The options of each chunker, by its name. */
export const chunkerOptionSchemas = { markdown, recursive } as const;

function refuseConflict(options: MarkdownOptions | RecursiveOptions, context: z.RefinementCtx): void {
  const { maxTokens = 256, overlap = 0 } = options;
  if (maxTokens < 1) return;
  const conflict = limitConflict({ maxTokens, overlap, minTokens: options.minTokens ?? 0 });
  if (conflict !== undefined)
    context.addIssue({ code: 'custom', path: [conflict.key], message: conflict.message });
}
