import { MillraceError } from '../../../errors/millrace-error.js';
import { halfFloats } from './half-floats.js';
import { readSafetensors, type Tensor } from './safetensors.js';

/** The vectors of a static model's tokens. Plain data on shared memory: all threads read one copy. */
export interface TokenVectors {
  /** Path of the weights, for messages. */
  readonly file: string;
  /** Components of a vector. */
  readonly width: number;
  readonly dtype: 'int8' | 'fp16' | 'bf16' | 'fp32';
  /** Row after row, `width` values each. */
  readonly rows: SharedArrayBuffer;
  /** Tokens that have a vector: ids from 0. */
  readonly tokens: number;
  /** Float32 factor by token id. */
  readonly weights: SharedArrayBuffer | undefined;
  /** Int32 row by token id; without it a token's row is its id. */
  readonly mapping: SharedArrayBuffer | undefined;
}

const dtypes = { I8: 'int8', F16: 'fp16', BF16: 'bf16', F32: 'fp32' } as const;

/**
 * Reads a model2vec file: `embeddings` (`embedding.weight` in the sentence-transformers layout) of shape
 * [rows, width], and perhaps `weights` and `mapping` of shape [tokens].
 * @throws MillraceError `model_not_found`, `model_corrupt`, `model_unsupported`
 */
export async function readTokenVectors(file: string): Promise<TokenVectors> {
  const tensors = await readSafetensors(file, ['embeddings', 'embedding.weight', 'weights', 'mapping']);
  const embeddings = tensors.get('embeddings') ?? tensors.get('embedding.weight');
  if (embeddings === undefined)
    throw new MillraceError('model_unsupported', `${file} holds no tensor "embeddings".`, {
      hint: 'The static handler takes models in the model2vec layout; transformers need the onnx handler.',
    });
  const [rows = 0, width = 0] = embeddings.shape;
  if (embeddings.shape.length !== 2 || rows === 0 || width === 0)
    throw corrupt(file, `"embeddings" has the shape [${embeddings.shape.join(', ')}]`);
  const dtype = dtypes[embeddings.type as keyof typeof dtypes] as TokenVectors['dtype'] | undefined;
  if (dtype === undefined)
    throw new MillraceError('model_unsupported', `${file} holds vectors of ${embeddings.type}.`, {
      hint: 'Supported are I8, F16, BF16 and F32.',
    });
  const mapping = tensors.get('mapping');
  const weights = tensors.get('weights');
  const tokens = mapping?.shape[0] ?? rows;
  return {
    file,
    width,
    dtype,
    rows: embeddings.data,
    tokens,
    weights: weights && readWeights(weights, tokens, file),
    mapping: mapping && readMapping(mapping, rows, file),
  };
}

function readWeights({ type, shape, data }: Tensor, tokens: number, file: string): SharedArrayBuffer {
  if (shape.length !== 1 || shape[0] !== tokens)
    throw corrupt(file, `"weights" has the shape [${shape.join(', ')}] for ${tokens} tokens`);
  const values = floats(type, data);
  if (values === undefined) throw corrupt(file, `"weights" is of type ${type}`);
  const result = new Float32Array(new SharedArrayBuffer(tokens * 4));
  for (let token = 0; token < tokens; token++) {
    const value = values(token);
    if (!Number.isFinite(value)) throw corrupt(file, `the weight of token ${token} is not a finite number`);
    result[token] = value;
  }
  return result.buffer as SharedArrayBuffer;
}

function floats(type: Tensor['type'], data: SharedArrayBuffer): ((at: number) => number) | undefined {
  if (type === 'F64') return reader(new Float64Array(data));
  if (type === 'F32') return reader(new Float32Array(data));
  if (type !== 'F16') return undefined;
  const values = new Uint16Array(data);
  const half = halfFloats();
  return (at) => half[values[at]!]!;
}

function reader(values: Float32Array | Float64Array): (at: number) => number {
  return (at) => values[at]!;
}

function readMapping({ type, shape, data }: Tensor, rows: number, file: string): SharedArrayBuffer {
  if (shape.length !== 1) throw corrupt(file, `"mapping" has the shape [${shape.join(', ')}]`);
  if (type !== 'I64' && type !== 'I32') throw corrupt(file, `"mapping" is of type ${type}`);
  const from = type === 'I64' ? new BigInt64Array(data) : new Int32Array(data);
  const result = new Int32Array(new SharedArrayBuffer(from.length * 4));
  for (let token = 0; token < from.length; token++) {
    const row = Number(from[token]!);
    if (row < 0 || row >= rows) throw corrupt(file, `token ${token} is mapped to row ${row} of ${rows}`);
    result[token] = row;
  }
  return result.buffer as SharedArrayBuffer;
}

function corrupt(file: string, what: string): MillraceError {
  return new MillraceError('model_corrupt', `${file} is not a sound static model: ${what}.`, {
    hint: 'Fetch the model again.',
  });
}
