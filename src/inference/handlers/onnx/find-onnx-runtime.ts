import { createRequire } from 'node:module';
import { onnxRuntimeMissing } from './runtime-missing.js';

/** Looks for ONNX Runtime without loading it. @throws MillraceError `runtime_missing` */
export function findOnnxRuntime(): void {
  try {
    createRequire(import.meta.url).resolve('onnxruntime-node');
  } catch (cause) {
    throw onnxRuntimeMissing(cause);
  }
}
