import type { EmbeddedBatch, EmbeddingModel } from '../contracts/embedding-model.js';
import { messageOf } from '../errors/message-of.js';
import { MillraceError } from '../errors/millrace-error.js';
import { isStrayPromise } from './stray-promise.js';

const hint =
  'Its `embed` gives { modelId, width, vectors }: a Float32Array for each text, awaited, as by Promise.all (docs/handlers.md).';

/** The same model; what its `embed` throws is classified, and what is no answer at all is refused with what it lacks. */
export function checkedOwnEmbedding(model: EmbeddingModel): EmbeddingModel {
  const { identity, tokenizer, maxTokens, batchInvariant, concurrency, batching, inPlace } = model;
  return {
    ...{ identity, tokenizer, maxTokens, batchInvariant, concurrency, batching },
    ...(inPlace !== undefined && { inPlace }),
    ...(model.tokenize !== undefined && { tokenize: (texts, signal) => model.tokenize!(texts, signal) }),
    async embed(texts, role, signal) {
      let batch: EmbeddedBatch;
      try {
        batch = await model.embed(texts, role, signal);
      } catch (cause) {
        signal?.throwIfAborted();
        if (cause instanceof MillraceError) throw cause;
        const said = messageOf(cause);
        throw new MillraceError('inference_failed', `The model ${identity.name} failed: ${said}`, { cause });
      }
      const fault = answerFault(batch);
      if (fault === undefined) return batch;
      throw new MillraceError('embedding_invalid', `The model ${identity.name} gave ${fault}.`, { hint });
    },
    close: () => model.close(),
  };
}

function answerFault(batch: Partial<EmbeddedBatch> | undefined): string | undefined {
  const { modelId, width, vectors } = batch ?? {};
  if (!Array.isArray(vectors)) return 'no list of `vectors`';
  // Every promise, so that none of them ends the process.
  if (vectors.filter(isStrayPromise).length > 0) return 'promises in place of vectors';
  if (!vectors.every((vector) => vector instanceof Float32Array)) return 'a vector that is no Float32Array';
  if (typeof modelId !== 'string') return 'no `modelId`';
  return typeof width === 'number' ? undefined : 'no `width`';
}
