import { dirname, resolve } from 'node:path';
import type { PipelineSpec } from '../pipeline/spec.js';
import type { Environment } from './environment.js';
import { parsePipeline } from './parse.js';
import { readConfigFile } from './read-config-file.js';
import type { Connectors } from './schema.js';

export interface LoadOptions {
  readonly env: Environment;
  readonly connectors: Connectors;
  readonly cacheFolder: string;
}

/**
 * Reads a configuration file, YAML or TypeScript (default export), the same shape in both.
 * @throws MillraceError `config_invalid`
 */
export async function loadConfig(
  path: string,
  { env, connectors, cacheFolder }: LoadOptions,
): Promise<PipelineSpec> {
  const input = await readConfigFile(path, env);
  return parsePipeline(input, { connectors, cacheFolder, baseFolder: dirname(resolve(path)), origin: path });
}
