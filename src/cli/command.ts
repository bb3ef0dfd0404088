import type { PipelineSpec } from '../pipeline/spec.js';
import type { ExitCode } from './exit-code.js';
import type { Output } from './output.js';
import type { Connectors } from '../config/schema.js';

/** What every command is given. */
export interface CommandContext {
  readonly output: Output;
  readonly connectors: Connectors;
  /** The user's cache folder of Millrace: models are under it. */
  readonly cacheFolder: string;
  load(configPath: string): Promise<PipelineSpec>;
}

export type Command<Arguments extends readonly unknown[]> = (
  context: CommandContext,
  ...args: Arguments
) => Promise<ExitCode>;
