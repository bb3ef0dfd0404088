import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { z } from 'zod';
import { MillraceError } from '../../errors/millrace-error.js';
import type { ModelFolder } from './model-folder.js';

/**
 * Reads one of a model's JSON files by a schema; undefined when the model has none of that name.
 * @throws MillraceError `model_corrupt` when it is not JSON, or not of that shape
 */
export async function readJsonFile<Schema extends z.ZodType>(
  folder: ModelFolder,
  file: string,
  schema: Schema,
): Promise<z.infer<Schema> | undefined> {
  if (!folder.files.has(file)) return undefined;
  try {
    return schema.parse(JSON.parse(await readFile(join(folder.path, file), 'utf8')));
  } catch (cause) {
    const path = join(folder.copyOf ?? folder.path, file);
    throw new MillraceError('model_corrupt', `${path} is not what a model keeps under that name`, {
      cause,
      hint: "Put the model's own file there again.",
    });
  }
}
