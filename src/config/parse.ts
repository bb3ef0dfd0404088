import { MillraceError } from '../errors/millrace-error.js';
import type { ConnectorSpec, PipelineSpec } from '../pipeline/spec.js';
import { modelsSpec } from './models-spec.js';
import { explainIssues } from './explain.js';
import { chainProblems, chainSpec } from './parse-chain.js';
import { pipelineSchema, type Connectors } from './schema.js';

export interface ParseOptions {
  readonly connectors: Connectors;
  /** Folder that relative paths in the configuration refer to. */
  readonly baseFolder: string;
  /** Where models are kept unless the configuration says otherwise. */
  readonly cacheFolder: string;
  /** What the configuration is called in messages: its path. */
  readonly origin: string;
}

/** @throws MillraceError `config_invalid` with one line for each thing that is wrong */
export function parsePipeline(
  input: unknown,
  { connectors, baseFolder, cacheFolder, origin }: ParseOptions,
): PipelineSpec {
  const schema = pipelineSchema(connectors);
  const result = schema.safeParse(input);
  const problems = result.success
    ? chainProblems(result.data.chain)
    : explainIssues(result.error.issues, schema, input);
  if (!result.success || problems.length > 0)
    throw new MillraceError(
      'config_invalid',
      `${origin} cannot be used:\n${problems.map((line) => `  ${line}`).join('\n')}`,
    );
  const { name, source, chain, sink, failed, limits, models, refresh, workers, stopDeadlineMs } = result.data;
  return {
    name,
    source: connectorSpec(source),
    ...chainSpec(chain),
    sink: connectorSpec(sink),
    failed: connectorSpec(failed),
    limits,
    models: modelsSpec(models, baseFolder, cacheFolder),
    refresh: refresh && {
      ...refresh,
      watch: [refresh.watch].flat(),
      events: refresh.events && connectorSpec(refresh.events),
    },
    workers,
    stopDeadlineMs,
    baseFolder,
  };
}

function connectorSpec(choice: Record<string, unknown>): ConnectorSpec {
  const [connector, config] = Object.entries(choice)[0]!;
  return { connector, config };
}
