import { MillraceError } from '../../../errors/millrace-error.js';
import { installOnnxRuntime } from './install-onnx-runtime.js';

export function onnxRuntimeMissing(cause: unknown): MillraceError {
  return new MillraceError('runtime_missing', 'The onnx handler needs the package onnxruntime-node', {
    cause,
    hint: `Install it: ${installOnnxRuntime}`,
  });
}
