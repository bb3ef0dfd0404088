import type { ModelFolder } from '../../models/model-folder.js';
import { cpuWorkers } from './cpu-place.js';
import { onnxFiles, weightsBytes } from './model-files.js';
import type { OnnxOptions } from './options.js';

/** Bytes of main memory that a model's weights take on all its workers; on a GPU they pass through it. */
export function onnxMemory(
  { name, files }: ModelFolder,
  options: Pick<OnnxOptions, 'dtype' | 'device' | 'deviceIndex' | 'memoryMb'>,
  poolSize: number,
): number {
  const bytes = weightsBytes(onnxFiles([...files.keys()], options.dtype, name), files);
  const onCpu = [options.device].flat().includes('cpu') ? cpuWorkers(bytes, poolSize, options.memoryMb) : 0;
  const onGpus = [options.device].flat().some((device) => device !== 'cpu')
    ? [options.deviceIndex].flat().length
    : 0;
  return bytes * Math.max(onCpu, onGpus);
}
