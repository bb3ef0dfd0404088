import { resolve } from 'node:path';
import type { z } from 'zod';
import type { ModelsSpec } from '../pipeline/spec.js';
import type { modelsSchema } from './schema.js';

/** @param cacheFolder where models are kept unless the configuration says otherwise */
export function modelsSpec(
  { cacheFolder: own, ...rest }: z.output<typeof modelsSchema>,
  baseFolder: string,
  cacheFolder: string,
): ModelsSpec {
  return { ...rest, cacheFolder: own === undefined ? cacheFolder : resolve(baseFolder, own) };
}
