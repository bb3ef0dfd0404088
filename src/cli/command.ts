import type { PipelineSpec } from '../pipeline/spec.js';
import type { ExitCode } from './exit-code.js';
import type { Output } from './output.js';
import type { Connectors } from '../config/schema.js';
import type { Environment } from '../config/environment.js';

/** What every command is given. */
export interface CommandContext {
  readonly output: Output;
  readonly connectors: Connectors;
  /** Where models from the hub are kept unless a configuration says otherwise. */
  readonly cacheFolder: string;
  readonly env: Environment;
  load(configPath: string): Promise<PipelineSpec>;
}

export type Command<Arguments extends readonly unknown[]> = (
  context: CommandContext,
  ...args: Arguments
) => Promise<ExitCode>;
