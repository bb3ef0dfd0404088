import type { Pooling, TokenizerRef } from '../../../contracts/embedding-model.js';
import { packIds } from '../../tokenizer/packed-ids.js';
import { loadTokenizer } from '../../tokenizer/load-tokenizer.js';
import type { Resources } from '../../workers/resources.js';
import type { Service } from '../../workers/service.js';
import { idsOfTexts, type PackedTexts } from './packed-texts.js';
import { padBatch } from './padded-batch.js';
import { poolVectors } from './pool-vectors.js';
import { openSession, type SessionOptions } from './session.js';
import { specialTokensOf } from './file-special-tokens.js';
import { checkUnchanged } from './unchanged-weights.js';
import type { WeightsFile } from './weights-file.js';

export interface OnnxServiceOptions {
  /** The ONNX file first, then the files of its external data: absolute path and SHA-256, hex. */
  readonly weights: readonly WeightsFile[];
  readonly tokenizer: TokenizerRef;
  readonly pooling: Pooling;
  readonly normalize: boolean;
  /** Longest sequence, special tokens included. */
  readonly maxTokens: number;
  readonly session: SessionOptions;
}

/** Answer of `describe`, asked with the prompts of the model. */
export interface OnnxDescription {
  /** Texts of several lengths had, to the last bit, the same vectors alone and in one batch: on this machine. */
  readonly batchInvariant: boolean;
  readonly width: number;
  /** Tokens that are put around every text. */
  readonly specialTokens: number;
  /** Tokens of the document prompt. */
  readonly promptTokens: number;
}

/** Answer of `embed`. */
export interface OnnxVectors {
  /** Shape [texts, width]. */
  readonly vectors: Float32Array;
  /** Texts that were cut at `maxTokens`. */
  readonly truncated: number;
  /** Time that it took, in ms. */
  readonly ms: number;
  /** Special tokens included. */
  readonly tokens: number;
  readonly paddedTokens: number;
}

/** Some words, for the first run of a model. */
const probeText = 'Sphinx of black quartz, judge my vow: 42 wizards jump quickly over 7 lazy dogs.';

/** Service module of the `onnx` handler: one session a worker. */
export async function create(options: OnnxServiceOptions, resources: Resources): Promise<Service> {
  const { pooling, normalize, maxTokens } = options;
  const special = await specialTokensOf(options.tokenizer.file);
  const tokenizer = await loadTokenizer(options.tokenizer, resources);
  await checkUnchanged(options.weights);
  const session = await openSession(options.weights[0]!, options.session);
  const idsOf = (text: string) => tokenizer.ids(text);

  const embed = async (texts: () => readonly Int32Array[]): Promise<OnnxVectors> => {
    const began = performance.now();
    const batch = padBatch(texts(), special, maxTokens);
    const vectors = poolVectors(await session.run(batch), batch, pooling, normalize);
    return {
      vectors,
      truncated: batch.truncated,
      ms: performance.now() - began,
      tokens: batch.counts.reduce((sum, count) => sum + count, 0),
      paddedTokens: batch.ids.length,
    };
  };

  return {
    methods: {
      async describe(documentPrompt: string) {
        const probes = probeTexts(idsOf(probeText), maxTokens);
        const together = (await embed(() => probes)).vectors;
        const width = together.length / probes.length;
        const alone = new Float32Array(together.length);
        for (const [row, probe] of probes.entries()) {
          alone.set((await embed(() => [probe])).vectors, row * width);
        }
        const value: OnnxDescription = {
          batchInvariant: together.every((component, at) => Object.is(component, alone[at])),
          width,
          specialTokens: special.before.length + special.after.length,
          promptTokens: idsOf(documentPrompt).length,
        };
        return { value };
      },
      tokenize(texts: readonly string[]) {
        const value = packIds(texts.map((text) => tokenizer.ids(text)));
        return { value, transfer: [value.ids.buffer, value.counts.buffer] };
      },
      async embed(texts: PackedTexts) {
        const value = await embed(() => idsOfTexts(texts, idsOf));
        return { value, transfer: [value.vectors.buffer as ArrayBuffer] };
      },
    },
    close: () => session.close(),
  };
}

/** Sums run over vector registers, so lengths around their multiples tell most. */
function probeTexts(ids: Int32Array, maxTokens: number): Int32Array[] {
  const lengths = [1, 6, 13, 21, 40, 62, 75].filter((length, at) => at === 0 || length < maxTokens);
  return lengths.map((length, text) =>
    Int32Array.from({ length }, (_, at) => ids[(text * 5 + at) % ids.length]!),
  );
}
