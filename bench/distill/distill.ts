import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { minilmFolder } from '../../test/support/weights/minilm.js';
import { inverseFrequencyWeights } from './frequency.js';
import { cosine, type Matrix, row } from './matrix.js';
import { readModel, writeModel } from './model-folder.js';
import { principalAxes, project } from './principal.js';
import { type Quantised, quantise } from './quantise.js';
import { openTeacher, type Teacher } from './teacher.js';

/**
 * Makes the bundled static model from all-MiniLM-L6-v2, or with `--verify` makes it again and requires every row to have
 * cosine 0.999 or more with the shipped one: `node dist/bench/distill/distill.js [--verify] [--out DIR]`.
 */
const WIDTH = 256;
const SIF = 3e-5;
const LEAST_COSINE = 0.999;

async function distil(teacher: Teacher): Promise<Quantised> {
  const tokens = Array.from({ length: teacher.vocabulary }, (_, id) => [id]);
  const vectors = await teacher.vectors(tokens);
  const projected = project(vectors, principalAxes(vectors, WIDTH));
  return quantise(weighted(projected, inverseFrequencyWeights(teacher.vocabulary, SIF)));
}

function weighted(of: Matrix, weights: Float32Array): Matrix {
  for (let r = 0; r < of.rows; r++) row(of, r).forEach((x, c, values) => (values[c] = x * weights[r]!));
  return of;
}

/** The teacher's tokenizer without truncation, padding and special tokens, which a mean of token vectors has no use for. */
function bareTokenizer(folder: string): object {
  const tokenizer = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8'));
  return { ...tokenizer, truncation: null, padding: null, post_processor: null };
}

function verify(shipped: Quantised, made: Quantised): void {
  let least = 1;
  for (let r = 0; r < shipped.rows; r++) {
    const at = (of: Quantised) => of.values.subarray(r * of.columns, (r + 1) * of.columns);
    least = Math.min(least, cosine(at(shipped), at(made)));
  }
  const same = shipped.rows === made.rows && shipped.columns === made.columns;
  console.log(`least cosine of ${shipped.rows} rows: ${least.toFixed(6)}, bar ${LEAST_COSINE}`);
  if (!same || least < LEAST_COSINE) process.exitCode = 1;
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
