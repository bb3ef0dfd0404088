import type { TokenizerRef } from '../../../../contracts/embedding-model.js';
import { loadTokenizer } from '../../../tokenizer/load-tokenizer.js';
import type { Resources } from '../../../workers/resources.js';
import type { Service } from '../../../workers/service.js';
import { padBatch } from '../padded-batch.js';
import { labelScores, openSession, type SessionOptions } from '../session.js';
import { checkUnchanged } from '../unchanged-weights.js';
import type { WeightsFile } from '../weights-file.js';
import { specialTokensOf } from '../file-special-tokens.js';

export interface ClassifierServiceOptions {
  /** The ONNX file first. */
  readonly weights: readonly WeightsFile[];
  readonly tokenizer: TokenizerRef;
  readonly maxTokens: number;
  readonly session: SessionOptions;
}

/** Answer of `classify`. */
export interface Logits {
  /** Shape [texts, labels]. */
  readonly logits: Float32Array;
  readonly labels: number;
  /** Texts that were cut at `maxTokens`. */
  readonly truncated: number;
}

/** Service module of the classifier: one session a worker. */
export async function create(options: ClassifierServiceOptions, resources: Resources): Promise<Service> {
  const special = await specialTokensOf(options.tokenizer.file);
  const tokenizer = await loadTokenizer(options.tokenizer, resources);
  await checkUnchanged(options.weights);
  const session = await openSession(options.weights[0]!, options.session, labelScores);
  const classify = async (texts: readonly string[]) => {
    const batch = padBatch(
      texts.map((text) => tokenizer.ids(text)),
      special,
      options.maxTokens,
    );
    const { data, width } = await session.run(batch);
    // A copy: the runtime's own memory cannot be handed over.
    const logits = data.slice();
    const value: Logits = { logits, labels: width, truncated: batch.truncated };
    return { value, transfer: [logits.buffer as ArrayBuffer] };
  };
  return {
    methods: {
      // How many labels it has, a first run tells best.
      describe: async (probe: string) => ({ value: (await classify([probe])).value.labels }),
      classify,
    },
    close: () => session.close(),
  };
}
