import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Quantised } from './quantise.js';

const MODEL_FILES = ['config.json', 'model.safetensors', 'tokenizer.json'];

/**
 * Writes the model2vec layout: `embeddings` int8 [V, d] and `weights` float32 [V], which holds the row's scale times the
 * token's weight, so that a reader which multiplies the two needs to know nothing of the quantisation.
 */
export function writeModel(folder: string, model: Quantised, tokenizer: object, config: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'model.safetensors'), safetensors(model));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  writeFileSync(join(folder, 'config.json'), `${JSON.stringify(config, null, 2)}\n`);
  const lines = MODEL_FILES.map((name) => `${sha256(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
}

/** Reads what `writeModel` wrote. */
export function readModel(folder: string): Quantised {
  const bytes = readFileSync(join(folder, 'model.safetensors'));
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString('utf8', 8, start));
  const part = (name: string) => {
    const [from, to] = header[name].data_offsets;
    return Uint8Array.prototype.slice.call(bytes, start + from, start + to).buffer;
  };
  const [rows, columns] = header.embeddings.shape;
  return {
    rows,
    columns,
    values: new Int8Array(part('embeddings')),
    scales: new Float32Array(part('weights')),
  };
}

/** The safetensors format: length of the header (uint64), the header as JSON, padded to 8 bytes, the tensors. */
function safetensors(model: Quantised): Buffer {
  const end = model.values.byteLength;
  const header = JSON.stringify({
    embeddings: { dtype: 'I8', shape: [model.rows, model.columns], data_offsets: [0, end] },
    weights: { dtype: 'F32', shape: [model.rows], data_offsets: [end, end + model.scales.byteLength] },
  });
  const padded = Buffer.from(header.padEnd(Math.ceil(header.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  const tensors = [model.values, model.scales].map((t) => Buffer.from(t.buffer, t.byteOffset, t.byteLength));
  return Buffer.concat([length, padded, ...tensors]);
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
