import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { MillraceError } from '../errors/millrace-error.js';
import { fillIn, type Environment } from './environment.js';

/**
 * What a configuration file holds, YAML or TypeScript (default export), with the environment filled in; unchecked.
 * @throws MillraceError `config_invalid`
 */
export async function readConfigFile(path: string, env: Environment): Promise<unknown> {
  return fillIn(await readInput(resolve(path), path), env);
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
