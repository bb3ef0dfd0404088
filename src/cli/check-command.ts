import { toWire } from '../errors/wire.js';
import { checkPipeline } from '../runtime/check.js';
import type { Command } from './command.js';
import { exitCode } from './exit-code.js';
import { printError } from './print-error.js';

/** `millrace check`: looks at every part of a pipeline and writes nothing. */
export const checkCommand: Command<[configPath: string]> = async (
  { output, connectors, load },
  configPath,
) => {
  const spec = await load(configPath);
  output.line(`ok   configuration: pipeline "${spec.name}"`);
  let sound = true;
  for await (const { part, detail, error } of checkPipeline(spec, connectors)) {
    output.data({ part, detail, ...(error && { error: toWire(error) }) });
    if (error === undefined) output.line(`ok   ${part}: ${detail}`);
    else {
      sound = false;
      output.line(`FAIL ${part}`);
      if (!output.json) printError(error, output);
    }
  }
  return sound ? exitCode.ok : exitCode.fault;
};
