import { z } from 'zod';

/** Ids that a tokenizer puts around a single text. */
export interface SpecialTokens {
  readonly before: readonly number[];
  readonly after: readonly number[];
}

const pair = z.tuple([z.string(), z.number().int()]);
const piece = z.union([
  z.object({ SpecialToken: z.object({ id: z.string() }) }),
  z.object({ Sequence: z.object({ id: z.string() }) }),
]);
const processor = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('TemplateProcessing'),
    single: z.array(piece),
    special_tokens: z.record(z.string(), z.object({ ids: z.array(z.number().int()) })),
  }),
  z.object({ type: z.enum(['BertProcessing', 'RobertaProcessing']), cls: pair, sep: pair }),
  z.object({ type: z.literal('ByteLevel') }),
  z.object({ type: z.literal('Sequence'), processors: z.array(z.unknown()) }),
]);

/**
 * Reads the post-processor of a `tokenizer.json` for single texts: templates, BERT's, RoBERTa's, and sequences of them.
 * @throws a plain error for a post-processor of another kind, or one that names a token it does not define
 */
export function readSpecialTokens(postProcessor: unknown): SpecialTokens {
  if (postProcessor == null) return { before: [], after: [] };
  const found = processor.parse(postProcessor);
  switch (found.type) {
    case 'TemplateProcessing': {
      const { single, special_tokens } = found;
      const text = single.findIndex((part) => 'Sequence' in part);
      const idsOf = (parts: typeof single) =>
        parts.flatMap((part) => ('SpecialToken' in part ? special_tokens[part.SpecialToken.id]!.ids : []));
      return { before: idsOf(single.slice(0, text)), after: idsOf(single.slice(text)) };
    }
    case 'BertProcessing':
    case 'RobertaProcessing':
      return { before: [found.cls[1]], after: [found.sep[1]] };
    case 'ByteLevel':
      return { before: [], after: [] };
    case 'Sequence': {
      // Each processor wraps what the earlier ones made.
      const inner = found.processors.map(readSpecialTokens);
      return {
        before: inner.toReversed().flatMap(({ before }) => before),
        after: inner.flatMap(({ after }) => after),
      };
    }
    default:
      return found satisfies never;
  }
}
