import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { MillraceError } from '../../../errors/millrace-error.js';

export interface StaticSettings {
  readonly normalize: boolean;
  /** Most tokens of one text. A mean has no positions, so a model that names none takes a million. */
  readonly maxTokens: number;
}

const unlimited = 1_000_000;

const configSchema = z.looseObject({
  normalize: z.boolean().optional(),
  max_length: z.int().positive().nullish(),
  seq_length: z.int().positive().nullish(),
});
const modulesSchema = z.array(z.looseObject({ type: z.string() }));

/**
 * Reads model2vec's `config.json` and the `modules.json` of sentence-transformers; either may be missing.
 * @throws MillraceError `model_corrupt` naming the file
 */
export async function readStaticSettings(folder: string): Promise<StaticSettings> {
  const config = (await readJson(join(folder, 'config.json'), configSchema)) ?? {};
  const modules = (await readJson(join(folder, 'modules.json'), modulesSchema)) ?? [];
  return {
    normalize: config.normalize ?? modules.some(({ type }) => type.endsWith('.Normalize')),
    maxTokens: config.max_length ?? config.seq_length ?? unlimited,
  };
}

async function readJson<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
): Promise<z.infer<Schema> | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new MillraceError('model_not_found', `${file} cannot be read.`, { cause: error });
  }
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new MillraceError('model_corrupt', `${file} is not what a static model keeps under that name.`, {
      cause,
      hint: 'Fetch the model again.',
    });
  }
}
