import { readFile } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { MillraceError } from '../errors/millrace-error.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { fillIn, type Environment } from './environment.js';
import { parsePipeline } from './parse.js';
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
  const file = resolve(path);
  const input = fillIn(await readInput(file, path), env);
  return parsePipeline(input, { connectors, cacheFolder, baseFolder: dirname(file), origin: path });
}

async function readInput(file: string, path: string): Promise<unknown> {
  switch (extname(file)) {
    case '.yaml':
    case '.yml':
    case '.json':
      return parseYaml(await readText(file, path), path);
    case '.ts':
    case '.mts':
    case '.js':
    case '.mjs': {
      await readText(file, path);
      const { createJiti } = await import('jiti');
      const loader = createJiti(import.meta.url, { moduleCache: false, fsCache: false });
      return loader.import(file, { default: true }).catch((cause: unknown) => {
        throw new MillraceError('config_invalid', `${path} could not be run.`, { cause });
      });
    }
    default:
      throw new MillraceError('config_invalid', `${path}: expected a .yaml, .yml, .json, .ts or .js file.`);
  }
}

async function readText(file: string, path: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const hint =
      cause.code === 'ENOENT'
        ? { hint: 'Give the path of a configuration file, for example millrace.yaml.' }
        : {};
    throw new MillraceError(
      'config_invalid',
      `The configuration ${path} cannot be read (${cause.code ?? 'unknown'}).`,
      {
        cause,
        ...hint,
      },
    );
  });
}

function parseYaml(text: string, path: string): unknown {
  try {
    return parse(text);
  } catch (cause) {
    const at = cause instanceof YAMLParseError && cause.linePos ? ` at line ${cause.linePos[0].line}` : '';
    throw new MillraceError('config_invalid', `${path} is not valid YAML${at}.`, { cause });
  }
}
