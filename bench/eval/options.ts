import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MillraceError } from '../../src/errors/millrace-error.js';
import type { ChunkerSpec } from '../../src/transforms/chunk/chunker.js';
import { chunkerSchema } from '../../src/transforms/chunk/schema.js';
import { comparedChunkers } from './chunkers.js';

export interface EvalOptions {
  readonly data: string;
  readonly k: number;
  readonly chunkers: readonly ChunkerSpec[];
  readonly withoutMinilm: boolean;
  /** A file, or `-` for stdout; undefined for no JSON. */
  readonly json: string | undefined;
}

export const usage =
  'npm run eval -- [--data DIR] [--k CHUNKS] [--chunker JSON]... [--without minilm] [--json [FILE]]';

/** @throws MillraceError `config_invalid`, with the usage as its hint */
export function readOptions(args: readonly string[], root: string): EvalOptions {
  const { values } = parse(args);
  const wrong = (message: string) => new MillraceError('config_invalid', message, { hint: usage });
  const k = Number(values.k);
  if (!Number.isInteger(k) || k < 1) throw wrong(`--k is a number of chunks from 1, not ${values.k}`);
  for (const name of values.without)
    if (name !== 'minilm') throw wrong(`--without takes minilm, not ${name}`);
  return {
    data: values.data ?? join(root, '..', 'shared', 'data', 'chunking-eval'),
    k,
    chunkers: values.chunker.length === 0 ? comparedChunkers : values.chunker.map(parseChunker),
    withoutMinilm: values.without.length > 0,
    json: values.json,
  };
}

function parse(args: readonly string[]) {
  // `--json` alone means stdout, which parseArgs cannot say.
  const named = args.flatMap((argument, at) => {
    const value = args[at + 1];
    return argument === '--json' && (value === undefined || value.startsWith('--'))
      ? ['--json=-']
      : [argument];
  });
  try {
    return parseArgs({
      args: named,
      options: {
        data: { type: 'string' },
        k: { type: 'string', default: '5' },
        chunker: { type: 'string', multiple: true, default: [] },
        without: { type: 'string', multiple: true, default: [] },
        json: { type: 'string' },
      },
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new MillraceError('config_invalid', reason, { cause, hint: usage });
  }
}

function parseChunker(json: string): ChunkerSpec {
  try {
    return chunkerSchema.parse(JSON.parse(json));
  } catch (cause) {
    throw new MillraceError('config_invalid', `--chunker ${json} is not a chunker`, {
      cause,
      hint: `Write it as the configuration does: --chunker '{"markdown":{"maxTokens":200}}'`,
    });
  }
}
