import { z } from 'zod';
import type { Pooling } from '../../../contracts/embedding-model.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import type { ModelFolder } from '../../models/model-folder.js';
import { readJsonFile } from '../../models/read-json-file.js';
import type { OnnxOptions } from './options.js';

const poolingFile = z.looseObject({
  pooling_mode: z.string().nullish(),
  include_prompt: z.boolean().nullish(),
});

/** Modes by their name in the file, older (a flag each) and newer (one string). */
const modes: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_cls_token: 'cls',
  pooling_mode_max_tokens: 'max',
  pooling_mode_lasttoken: 'last',
  mean: 'mean',
  cls: 'cls',
  max: 'max',
  lasttoken: 'last',
};

/**
 * Reads a sentence-transformers Pooling module.
 * @throws MillraceError `model_unsupported` naming the mode; `model_corrupt` when its settings are missing
 */
export async function readPooling(
  folder: ModelFolder,
  path: string,
  { pooling }: Pick<OnnxOptions, 'pooling'>,
): Promise<Pooling> {
  const file = `${path}/config.json`;
  const settings = await readJsonFile(folder, file, poolingFile);
  if (settings === undefined) {
    throw new MillraceError('model_corrupt', `The model ${folder.name} lists a pooling but has no ${file}`, {
      hint: "Put the model's own file there again.",
    });
  }
  if (settings.include_prompt === false) {
    throw unsupported(folder, 'include_prompt: false (leaves the prompt out of the pooling)');
  }
  if (pooling !== undefined) return pooling;
  const named =
    settings.pooling_mode != null
      ? [settings.pooling_mode]
      : Object.keys(settings).filter((key) => key.startsWith('pooling_mode_') && settings[key] === true);
  const mode = named.length === 1 ? modes[named[0]!] : undefined;
  if (mode === undefined) throw unsupported(folder, named.join(' with ') || 'none');
  return mode;
}

function unsupported(folder: ModelFolder, mode: string): MillraceError {
  return new MillraceError(
    'model_unsupported',
    `The model ${folder.name} asks for the pooling mode ${mode}`,
    {
      hint: 'Choose a model that pools by mean, cls, max or last token.',
    },
  );
}
