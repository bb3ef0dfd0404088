/**
 * Makes the bundled static model from all-MiniLM-L6-v2, or with `--verify` makes it again and requires every row to have
 * cosine 0.999 or more with the shipped one: `node dist/bench/distill/distill.js [--verify] [--out DIR]`.
 *
 * 1. Each token alone, `[CLS] token [SEP]`, goes through the teacher; the mean of its states, weighted by smooth inverse
 *    frequency, is the prior (model2vec's recipe).
 * 2. Token vectors are fitted so that their means come near the teacher's vectors of dictionary glosses (tokenlearn's
 *    idea, as linear problems), and weighted once more.
 * 3. Principal components reduce them to 256 values, and rows are rounded to 8 bits.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { minilmFolder } from '../../test/support/weights/minilm.js';
import { inverseFrequencyWeights } from './frequency.js';
import { scaledToFit, withMatchedLengths } from './length-matching.js';
import { cosine, type Matrix } from './matrix.js';
import { readModel, writeModel } from './model-folder.js';
import { principalAxes, project } from './principal.js';
import { type Quantised, quantise } from './quantise.js';
import { fitTokenVectors } from './regression.js';
import { centred, unit, weighted } from './rows.js';
import { openTeacher, type Teacher } from './teacher.js';
import { tokenTexts } from './token-texts.js';
import { wordnetGlosses } from './wordnet.js';

const WIDTH = 256;
/** Parameter of smooth inverse frequency: the larger, the milder. */
const SIF = 3e-5;
/** How strongly token vectors are held to those before the fit. */
const PULL = 0.3;
/** Steps of the solver: first for lengths and directions, then, each time with lengths matched anew, for directions. */
const ROUNDS = [20, 10, 10];
/** Tokens of a text that the teacher sees, beside its two special ones. */
const MOST_TOKENS = 254;
const LEAST_COSINE = 0.999;

async function distil(teacher: Teacher): Promise<Quantised> {
  const tokens = Array.from({ length: teacher.vocabulary }, (_, id) => [id]);
  const alone = centred(await teacher.vectors(tokens));
  const frequency = inverseFrequencyWeights(teacher.vocabulary, SIF);
  const fitted = await fit(teacher, weighted(alone, frequency));
  // The fit gives common words back some of their length; weighting again helps on long texts.
  const final = weighted(fitted, frequency);
  return quantise(project(final, principalAxes(final, WIDTH)));
}

async function fit(teacher: Teacher, prior: Matrix): Promise<Matrix> {
  // Every second gloss: all of them take twice the time.
  const glosses = wordnetGlosses().filter((_, i) => i % 2 === 0);
  const sequences = glosses.map((text) => teacher.encode(text).slice(0, MOST_TOKENS));
  const targets = centred(unit(await teacher.vectors(sequences)));
  let texts = tokenTexts(sequences);
  let vectors = scaledToFit(texts, targets, prior);
  for (const [round, steps] of ROUNDS.entries()) {
    if (round > 0) texts = withMatchedLengths(texts, targets, vectors);
    vectors = fitTokenVectors(texts, targets, vectors, PULL, steps);
  }
  return vectors;
}

/** The teacher's tokenizer without truncation, padding and special tokens, which a mean of token vectors has no use for. */
function bareTokenizer(folder: string): object {
  const tokenizer = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8'));
  return { ...tokenizer, truncation: null, padding: null, post_processor: null };
}

/** Prints the least cosine between rows of two models, and makes the process fail below the bar. */
function verify(shipped: Quantised, made: Quantised): void {
  let least = 1;
  for (let r = 0; r < shipped.rows; r++) {
    const at = (of: Quantised) => of.values.subarray(r * of.columns, (r + 1) * of.columns);
    least = Math.min(least, cosine(at(shipped), at(made)));
  }
  const sameShape = shipped.rows === made.rows && shipped.columns === made.columns;
  const sameBytes = Buffer.from(shipped.values.buffer).equals(Buffer.from(made.values.buffer));
  console.log(`least cosine of ${shipped.rows} rows: ${least.toFixed(6)}, bar ${LEAST_COSINE}`);
  console.log(`embeddings byte for byte the same: ${sameBytes}`);
  if (!sameShape || least < LEAST_COSINE) process.exitCode = 1;
}

const { values: options } = parseArgs({
  options: {
    verify: { type: 'boolean', default: false },
    out: { type: 'string', default: 'src/inference/bundled' },
  },
});
const folder = minilmFolder();
const made = await distil(await openTeacher(folder));
if (options.verify) verify(readModel(options.out), made);
else {
  writeModel(options.out, made, bareTokenizer(folder), {
    model_type: 'model2vec',
    architectures: ['StaticModel'],
    tokenizer_name: 'sentence-transformers/all-MiniLM-L6-v2',
    apply_pca: WIDTH,
    apply_zipf: true,
    sif_coefficient: SIF,
    hidden_dim: WIDTH,
    seq_length: 1_000_000,
    normalize: true,
    language: 'en',
  });
  console.log(`wrote ${options.out}`);
}
