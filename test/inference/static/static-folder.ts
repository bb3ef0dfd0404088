import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StaticModelFolder } from '../../../src/inference/handlers/static/create-static-model.js';
import type { TokenizerJson } from '../tokenizer/tokenizer-files.js';
import { writeSafetensors, type TensorSpec } from './safetensors-file.js';

/** Writes a static model to a new temporary folder. */
export function staticFolder(
  tokenizer: TokenizerJson,
  tensors: Readonly<Record<string, TensorSpec>>,
  config: Record<string, unknown> = { normalize: true },
): StaticModelFolder {
  const path = mkdtempSync(join(tmpdir(), 'millrace-static-'));
  writeFileSync(join(path, 'tokenizer.json'), JSON.stringify(tokenizer));
  writeFileSync(join(path, 'config.json'), JSON.stringify(config));
  writeSafetensors(join(path, 'model.safetensors'), tensors);
  return describeFolder(path);
}

export function describeFolder(path: string): StaticModelFolder {
  const files = ['model.safetensors', 'tokenizer.json'].map((name) => {
    const sha256 = createHash('sha256')
      .update(readFileSync(join(path, name)))
      .digest('hex');
    return [name, { sha256 }] as const;
  });
  return { name: 'test', path, files: new Map(files) };
}
