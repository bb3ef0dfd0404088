import { z } from 'zod';
import type { EmbeddingModel } from '../contracts/embedding-model.js';
import { messageOf } from '../errors/message-of.js';
import { MillraceError } from '../errors/millrace-error.js';
import { checkedOwnEmbedding } from './checked-own-embedding.js';
import type { OwnEmbedding } from './own-embedding.js';

const count = z.int({ error: 'expected a whole number from 1' }).min(1, 'expected a whole number from 1');
const method = z.custom((value) => typeof value === 'function', { error: 'expected a function' });

/** What a run depends on: with less nothing would ever be embedded, and nobody be told. */
const schema = z.looseObject({
  identity: z.looseObject({ name: z.string(), width: count }),
  maxTokens: count,
  concurrency: count,
  batching: z.looseObject({ padded: z.boolean(), tokens: count, texts: count }),
  embed: method,
  close: method,
});

/**
 * @throws MillraceError `config_invalid` for what is no model that can be run: it is closed then; `inference_failed` when
 * none is opened; what `load` throws where that is classified
 */
export async function openOwnEmbedding(own: OwnEmbedding, signal: AbortSignal): Promise<EmbeddingModel> {
  let model: EmbeddingModel;
  try {
    model = await own.load(signal);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof MillraceError) throw cause;
    const said = messageOf(cause);
    throw new MillraceError('inference_failed', `\`own.load\` opened no model: ${said}`, { cause });
  }
  const { error } = schema.safeParse(model);
  if (error === undefined) return checkedOwnEmbedding(model);
  // It may lack this as well.
  await (model as Partial<EmbeddingModel> | undefined)?.close?.();
  const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'the model'}: ${message}`);
  throw new MillraceError('config_invalid', `What \`own.load\` gave cannot be run: ${faults.join('; ')}`, {
    hint: 'It implements EmbeddingModel (docs/handlers.md).',
  });
}
