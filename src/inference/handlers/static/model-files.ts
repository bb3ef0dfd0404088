import { MillraceError } from '../../../errors/millrace-error.js';

const required = ['model.safetensors', 'tokenizer.json'];
const wanted = [...required, 'config.json', 'modules.json'];

/** The files of a model2vec model. @throws MillraceError `model_unsupported` naming the one that is missing */
export function staticFiles(paths: readonly string[], model: string): string[] {
  const missing = required.find((path) => !paths.includes(path));
  if (missing !== undefined) {
    throw new MillraceError(
      'model_unsupported',
      `The model ${model} has no ${missing}, so it is no static model`,
      {
        hint: 'Choose a model2vec model (such as minishlab/potion-base-8M), or the onnx handler for this one.',
      },
    );
  }
  return wanted.filter((path) => paths.includes(path));
}
