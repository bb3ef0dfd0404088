import { loadServeConfig, parseServe, type ServeSpec } from '../config/serve-config.js';
import { MillraceError } from '../errors/millrace-error.js';
import { createMetrics } from '../observability/metrics.js';
import { serveModels } from '../runtime/serve.js';
import type { Command, CommandContext } from './command.js';
import { exitCode } from './exit-code.js';
import { plainEvent } from './plain-event.js';
import { serverLine } from './server-line.js';
import { listenForStop } from './signals.js';

export interface ServeFlags {
  readonly model?: string;
  readonly handler?: 'onnx' | 'static';
  readonly dtype?: string;
  readonly host?: string;
  readonly port?: number;
}

/** `millrace serve`: loads models once, for many processes. */
export const serveCommand: Command<[configPath: string | undefined, flags: ServeFlags]> = async (
  context,
  configPath,
  flags,
) => {
  const { output } = context;
  const spec = await specOf(context, configPath, flags);
  const stop = listenForStop((step) =>
    output.note(step === 'drain' ? 'stopping: answering what is under way (again to abort)' : 'aborting'),
  );
  try {
    const end = await serveModels(spec, {
      signal: stop.drain,
      abort: stop.abort,
      metrics: createMetrics(),
      onEvent: (event) => {
        if (event.type !== 'batch' && event.type !== 'request') output.data(plainEvent(event));
        const line = serverLine(event);
        if (line !== undefined) output.note(line);
      },
    });
    return end === 'aborted' ? exitCode.aborted : exitCode.ok;
  } finally {
    stop.release();
  }
};

/** An address of the flags wins over the file's; without a file they name one model, the bundled one by default. */
async function specOf(
  { env, cacheFolder }: CommandContext,
  configPath: string | undefined,
  flags: ServeFlags,
): Promise<ServeSpec> {
  const { model = 'bundled', handler = model === 'bundled' ? 'static' : 'onnx', dtype, host, port } = flags;
  const address = { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
  if (configPath !== undefined) {
    const named = (['model', 'handler', 'dtype'] as const).find((flag) => flags[flag] !== undefined);
    if (named !== undefined)
      throw new MillraceError('config_invalid', `--${named} and the file ${configPath} both name models.`, {
        hint: `Write it under \`serve\` in ${configPath}, or leave the file out.`,
      });
    return { ...(await loadServeConfig(configPath, { env, cacheFolder })), ...address };
  }
  const token = env['MILLRACE_TOKEN'];
  const input = {
    serve: { [model]: { [handler]: { model, ...(dtype !== undefined && { dtype }) } } },
    ...address,
    ...(token !== undefined && { token }),
    ...(env['HF_TOKEN'] !== undefined && { models: { token: env['HF_TOKEN'] } }),
  };
  return parseServe(input, { baseFolder: process.cwd(), cacheFolder, origin: 'The command line' });
}
