import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { type Matrix, matrix, row } from './matrix.js';

/** Padded tokens in one run of the model: more is slower on a CPU, for want of cache. */
const BATCH_TOKENS = 2048;

/** The model that is distilled: token ids in, the mean of its last hidden states out. */
export interface Teacher {
  readonly vocabulary: number;
  readonly width: number;
  /** Ids of a text without special tokens. */
  encode(text: string): number[];
  /** One row per sequence: the mean over `[CLS] ids [SEP]`, cut to `limit` tokens in all, not normalised. */
  vectors(sequences: readonly (readonly number[])[], limit?: number): Promise<Matrix>;
}

const CLS = 101;
const SEP = 102;

/** Opens the sentence-transformers ONNX export in `folder` (see `test/support/weights/minilm.py`). */
export async function openTeacher(folder: string): Promise<Teacher> {
  const json = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const tokenizer = new Tokenizer(json('tokenizer.json'), json('tokenizer_config.json'));
  const { vocab_size: vocabulary, hidden_size: width } = json('config.json');
  const session = await InferenceSession.create(join(folder, 'onnx', 'model.onnx'), { intraOpNumThreads: 2 });

  async function runBatch(batch: readonly (readonly number[])[]): Promise<Float32Array> {
    const length = Math.max(...batch.map((ids) => ids.length));
    const ids = new BigInt64Array(batch.length * length);
    const mask = new BigInt64Array(ids.length);
    batch.forEach((sequence, r) => {
      sequence.forEach((id, c) => {
        ids[r * length + c] = BigInt(id);
        mask[r * length + c] = 1n;
      });
    });
    const shape = [batch.length, length];
    const outputs = await session.run({
      input_ids: new Tensor('int64', ids, shape),
      attention_mask: new Tensor('int64', mask, shape),
      token_type_ids: new Tensor('int64', new BigInt64Array(ids.length), shape),
    });
    return outputs['last_hidden_state']!.data as Float32Array;
  }

  async function vectors(sequences: readonly (readonly number[])[], limit = 256): Promise<Matrix> {
    const framed = sequences.map((ids) => [CLS, ...ids.slice(0, limit - 2), SEP]);
    const out = matrix(framed.length, width);
    for (const batch of batchesByLength(framed)) {
      const sequencesOfBatch = batch.map((i) => framed[i]!);
      const states = await runBatch(sequencesOfBatch);
      const length = Math.max(...sequencesOfBatch.map((ids) => ids.length));
      batch.forEach((i, r) => {
        meanInto(row(out, i), states.subarray(r * length * width), framed[i]!.length);
      });
    }
    return out;
  }

  const encode = (text: string) => [...tokenizer.encode(text, { add_special_tokens: false }).ids];
  return { vocabulary, width, encode, vectors };
}

/** Indices of sequences in batches of like length within the token budget. */
function* batchesByLength(sequences: readonly (readonly number[])[]): Generator<number[]> {
  const order = sequences
    .map((_, i) => i)
    .sort((a, b) => sequences[a]!.length - sequences[b]!.length || a - b);
  let batch: number[] = [];
  for (const i of order) {
    // Sorted, so the newest is the longest and sets the padded length.
    if (batch.length > 0 && (batch.length + 1) * sequences[i]!.length > BATCH_TOKENS) {
      yield batch;
      batch = [];
    }
    batch.push(i);
  }
  if (batch.length > 0) yield batch;
}

function meanInto(out: Float32Array, states: Float32Array, tokens: number): void {
  const width = out.length;
  for (let c = 0; c < width; c++) {
    let sum = 0;
    for (let t = 0; t < tokens; t++) sum += states[t * width + c]!;
    out[c] = sum / tokens;
  }
}
