import { createHash } from 'node:crypto';
import { MillraceError } from '../../../errors/millrace-error.js';
import type { ModelFile } from '../../models/model-folder.js';
import type { OnnxOptions } from './options.js';

/** Names of the exports by numeric type, best first, as transformers.js and Optimum write them. */
const exports = {
  fp32: ['model.onnx'],
  fp16: ['model_fp16.onnx'],
  int8: ['model_int8.onnx', 'model_quantized.onnx'],
} as const satisfies Record<OnnxOptions['dtype'], readonly string[]>;

const settings =
  /^(tokenizer\.json|tokenizer_config\.json|config\.json|modules\.json|config_sentence_transformers\.json)$/;
const moduleSettings = /^(\d+_\w+\/config\.json|(\d+_\w+\/)?sentence_\w+_config\.json)$/;

/** The ONNX file, the files that hold its weights when it does not itself, and the settings beside it. */
export interface OnnxFiles {
  readonly graph: string;
  readonly data: readonly string[];
  readonly settings: readonly string[];
}

/** @throws MillraceError `model_unsupported` naming what the model offers instead */
export function onnxFiles(paths: readonly string[], dtype: OnnxOptions['dtype'], model: string): OnnxFiles {
  const candidates = exports[dtype].flatMap((name) => [`onnx/${name}`, name]);
  const graph = candidates.find((path) => paths.includes(path));
  if (graph === undefined) {
    const offered = paths.filter((path) => path.endsWith('.onnx'));
    throw new MillraceError(
      'model_unsupported',
      `The model ${model} has no ${dtype} export: none of ${candidates.join(', ')}`,
      {
        hint:
          offered.length === 0
            ? 'It has no ONNX file at all. Export it: optimum-cli export onnx --model NAME --task feature-extraction FOLDER'
            : `It has ${offered.join(', ')}: choose another dtype.`,
      },
    );
  }
  if (!paths.includes('tokenizer.json')) {
    throw new MillraceError('model_unsupported', `The model ${model} has no tokenizer.json`, {
      hint: 'Save its tokenizer in that form: AutoTokenizer.from_pretrained(NAME).save_pretrained(FOLDER)',
    });
  }
  return {
    graph,
    data: paths.filter((path) => path.startsWith(`${graph}_data`) || path === `${graph}.data`).sort(),
    settings: paths.filter((path) => settings.test(path) || moduleSettings.test(path)),
  };
}

/** Bytes of the weights: what a session of the model takes at least. */
export function weightsBytes({ graph, data }: OnnxFiles, files: ReadonlyMap<string, ModelFile>): number {
  return [graph, ...data].reduce((sum, path) => sum + files.get(path)!.bytes, 0);
}

/** SHA-256, hex, of the weights: of the one file that holds them, else over the names and digests of all. */
export function weightsDigest({ graph, data }: OnnxFiles, files: ReadonlyMap<string, ModelFile>): string {
  const digest = (path: string) => files.get(path)!.sha256;
  if (data.length === 0) return digest(graph);
  const all = [graph, ...data].map((path) => `${digest(path)}  ${path}\n`);
  return createHash('sha256').update(all.join('')).digest('hex');
}
