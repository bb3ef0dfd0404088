import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { MillraceError } from '../errors/millrace-error.js';
import type { ModelsSpec } from '../pipeline/spec.js';
import type { Environment } from './environment.js';
import { explainIssues } from './explain.js';
import { modelsSpec } from './models-spec.js';
import { readConfigFile } from './read-config-file.js';
import { serveSchema } from './serve-schema.js';

/** What a server of models is made from: checked, with every default filled in. */
export interface ServeSpec extends Omit<z.output<typeof serveSchema>, 'models' | 'workers'> {
  /** Worker threads; undefined: as many as there are CPUs. */
  readonly workers: number | undefined;
  readonly models: ModelsSpec;
  /** Folder that relative paths refer to. */
  readonly baseFolder: string;
}

export interface ParseServeOptions {
  readonly baseFolder: string;
  /** Where models are kept unless the configuration says otherwise. */
  readonly cacheFolder: string;
  /** What the configuration is called in messages. */
  readonly origin: string;
}

/** @throws MillraceError `config_invalid` with one line for each thing that is wrong */
export function parseServe(
  input: unknown,
  { baseFolder, cacheFolder, origin }: ParseServeOptions,
): ServeSpec {
  const result = serveSchema.safeParse(input);
  if (!result.success) {
    const problems = explainIssues(result.error.issues, serveSchema, input).map((line) => `  ${line}`);
    throw new MillraceError('config_invalid', `${origin} cannot be used:\n${problems.join('\n')}`);
  }
  const { models, workers, ...rest } = result.data;
  return { ...rest, workers, models: modelsSpec(models, baseFolder, cacheFolder), baseFolder };
}

/** Reads the configuration file of a server, YAML or TypeScript. @throws MillraceError `config_invalid` */
export async function loadServeConfig(
  path: string,
  { env, cacheFolder }: { readonly env: Environment; readonly cacheFolder: string },
): Promise<ServeSpec> {
  const input = await readConfigFile(path, env);
  return parseServe(input, { baseFolder: dirname(resolve(path)), cacheFolder, origin: path });
}
