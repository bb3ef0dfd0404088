import type { EmbeddingModel, ModelIdentity } from '../../contracts/embedding-model.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { checkVector } from '../check-vector.js';
import { describeDifference, identityDigest } from '../identity.js';
import type { Probe } from './probe.js';

/** What an embedding model says and makes of the fixed texts. */
interface Sample {
  readonly identity: ModelIdentity;
  readonly maxTokens: number;
  readonly vectors: readonly Float32Array[];
}

/** Short and long, plain and odd: what a broken export or tokenizer shows itself in. */
const texts = [
  'a',
  'The miller opens the sluice, and the wheel begins to turn.',
  'function gcd(a, b) { return b === 0 ? a : gcd(b, a % b); }',
  'Übergrößenträger, naïve café, 水車小屋, мельница, 🦩',
  '1234567890 3.14159 -1e-9 0x1f',
  'the water runs over the stones '.repeat(12),
];

/** Cosine to the old vector below which equal identities do not make equal vectors; devices and int8 stay above. */
const leastCosine = 0.98;

export interface EmbeddingProbeOptions {
  /** The vectors fill a store: only a model of the same space may take over. */
  readonly sameSpace: boolean;
}

/**
 * Judges an embedding model by fixed texts: count, width, finite components, length over 0; against the old model, where
 * both are of one space, the direction of each vector; and that it reads texts as long as the first one does.
 * @throws MillraceError `artifact_mismatch` for another space where one is filled; `probe_failed` for the rest
 */
export function embeddingProbe({ sameSpace }: EmbeddingProbeOptions): Probe<EmbeddingModel, Sample> {
  return {
    async sample(model, signal) {
      const batch = texts.map((text) => ({ text }));
      const { vectors } = await model.embed(batch, 'document', signal);
      const { identity, maxTokens } = model;
      return { identity, maxTokens, vectors };
    },
    judge(next, old, first) {
      const { identity, vectors } = next;
      const equal = identityDigest(identity) === identityDigest(old.identity);
      if (sameSpace && !equal)
        throw new MillraceError(
          'artifact_mismatch',
          `The store holds vectors of another space than model ${identity.name} makes: ${describeDifference(old.identity, identity)}`,
          {
            hint: 'Fill a new generation with it: by `generations: { onNewSpace: reindex }` while the run goes on, or by `millrace generations start`.',
          },
        );
      if (vectors.length !== texts.length)
        throw failed(`it gave ${vectors.length} vectors for ${texts.length} texts`);
      if (next.maxTokens < first.maxTokens)
        throw failed(`it reads ${next.maxTokens} tokens of a text, and texts are cut for ${first.maxTokens}`);
      for (const [at, vector] of vectors.entries()) {
        const fault = checkVector(vector, identity.width);
        if (fault !== undefined) throw failed(`of ${JSON.stringify(texts[at])}: ${fault.message}`);
        const cosine = equal ? cosineOf(vector, old.vectors[at]!) : 1;
        if (cosine < leastCosine)
          throw failed(
            `its vector of ${JSON.stringify(texts[at])} has a cosine of ${cosine.toFixed(3)} to that of the old model, whose space it shares`,
          );
      }
    },
  };

  function failed(what: string): MillraceError {
    return new MillraceError('probe_failed', `The new model did not pass its probe: ${what}`, {
      hint: 'The old model serves on. Look at the files of the new one: export it again, or run it elsewhere first.',
    });
  }
}

function cosineOf(a: Float32Array, b: Float32Array): number {
  let [dot, squaresA, squaresB] = [0, 0, 0];
  for (let at = 0; at < a.length; at += 1) {
    dot += a[at]! * b[at]!;
    squaresA += a[at]! ** 2;
    squaresB += b[at]! ** 2;
  }
  return dot / Math.sqrt(squaresA * squaresB);
}
