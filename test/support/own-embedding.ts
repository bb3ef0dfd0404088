import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { EmbeddingModel, EmbedText } from '../../src/contracts/embedding-model.js';
import { identityDigest } from '../../src/inference/identity.js';
import { bundledFolder } from '../../src/inference/models/resolve-model.js';
import { tokenizerRef } from '../../src/inference/tokenizer/load-tokenizer.js';
import type { OwnEmbedding } from '../../src/inference/own-embedding.js';

export interface OwnEmbeddingOptions {
  /** Equal names have equal vectors for equal texts, others have others. */
  readonly name: string;
  /** Components of a vector. Default 8. */
  readonly width?: number;
  /** Most tokens of a text. Default 64. */
  readonly maxTokens?: number;
  /** Batches at once. Default 2. */
  readonly concurrency?: number;
  /** Called before each batch: to wait, to fail, to look at the texts. */
  before?(texts: readonly EmbedText[], signal: AbortSignal | undefined): Promise<void> | void;
}

/** An embedding model without weights: a text's vector is made of its hash, in this process. */
export function ownEmbedding(options: OwnEmbeddingOptions): OwnEmbedding {
  const { name, width = 8, maxTokens = 64, concurrency = 2 } = options;
  return {
    load: async (): Promise<EmbeddingModel> => {
      const tokenizer = await tokenizerRef(join(bundledFolder(), 'tokenizer.json'));
      const identity = {
        name,
        weights: name,
        tokenizer: tokenizer.digest,
        pooling: 'mean' as const,
        normalize: false,
        prompts: { document: '', query: '' },
        width,
        dtype: 'fp32',
      };
      return {
        identity,
        tokenizer,
        maxTokens,
        batchInvariant: true,
        concurrency,
        batching: { padded: false, tokens: 4_096, texts: 32 },
        embed: async (texts, _role, signal) => {
          await options.before?.(texts, signal);
          return {
            modelId: identityDigest(identity),
            width,
            vectors: texts.map(({ text }) => hashed(name, text, width)),
          };
        },
        close: async () => undefined,
      };
    },
  };
}

function hashed(name: string, text: string, width: number): Float32Array {
  const bytes = createHash('shake256', { outputLength: width * 2 })
    .update(`${name}\0${text}`)
    .digest();
  return Float32Array.from({ length: width }, (_, at) => bytes.readInt16LE(at * 2) / 32768 + 1e-6);
}
