import { MillraceError } from '../../../errors/millrace-error.js';
import type { TransformersOptions } from './options.js';

/** What transformers.js puts behind the names of ONNX files, by numeric type. */
const suffixes = {
  fp32: '',
  fp16: '_fp16',
  int8: '_int8',
  uint8: '_uint8',
  q8: '_quantized',
  q4: '_q4',
  q4f16: '_q4f16',
  bnb4: '_bnb4',
} as const satisfies Record<TransformersOptions['dtype'], string>;

const anySuffix = new RegExp(`(${Object.values(suffixes).filter(Boolean).join('|')})$`);

/** The ONNX files of a numeric type with their data, and all settings. @throws MillraceError `model_unsupported` */
export function transformersFiles(
  paths: readonly string[],
  dtype: TransformersOptions['dtype'],
  model: string,
): string[] {
  const graphs = paths.filter((path) => {
    if (!/^(onnx\/)?[^/]+\.onnx$/.test(path)) return false;
    const found = anySuffix.exec(path.slice(0, -'.onnx'.length))?.[0] ?? '';
    return found === suffixes[dtype];
  });
  if (graphs.length === 0) {
    const offered = paths.filter((path) => path.endsWith('.onnx'));
    throw new MillraceError('model_unsupported', `The model ${model} has no ONNX files of type ${dtype}`, {
      hint:
        offered.length === 0
          ? 'Choose a model that was exported for transformers.js.'
          : `It has ${offered.join(', ')}: choose another dtype.`,
    });
  }
  const data = paths.filter((path) => graphs.some((graph) => path.startsWith(`${graph}_data`)));
  return [...graphs, ...data, ...paths.filter((path) => /^[^/]+\.(json|txt|model|jinja)$/.test(path))];
}

/** Where the ONNX files lie in the folder. */
export function graphFolder(paths: readonly string[]): '' | 'onnx' {
  return paths.some((path) => path.startsWith('onnx/') && path.endsWith('.onnx')) ? 'onnx' : '';
}
