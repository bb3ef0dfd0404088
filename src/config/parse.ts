import { MillraceError } from '../errors/millrace-error.js';
import type { ConnectorSpec, PipelineSpec } from '../pipeline/spec.js';
import { modelsSpec } from './models-spec.js';
import { explainIssues } from './explain.js';
import { chainProblems, chainSpec } from './parse-chain.js';
import { refreshProblems } from './parse-refresh.js';
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
  if (!result.success) throw unusable(origin, explainIssues(result.error.issues, schema, input));
  const { name, source, chain, sink, failed, limits, models, refresh, http, workers, stopDeadlineMs } =
    result.data;
  const { keep: keepMs, ...generations } = result.data.generations;
  const problems = chainProblems(chain);
  if (problems.length > 0) throw unusable(origin, problems);
  const steps = chainSpec(chain, connectors);
  const updates = refresh && { ...refresh, watch: [refresh.watch].flat() };
  const strangers = updates === undefined ? [] : refreshProblems(updates, steps);
  if (strangers.length > 0) throw unusable(origin, strangers);
  return {
    name,
    source: connectorSpec(source),
    ...steps,
    sink: connectorSpec(sink),
    ...failedSpec(failed),
    limits,
    models: modelsSpec(models, baseFolder, cacheFolder),
    refresh: updates && { ...updates, events: updates.events && connectorSpec(updates.events) },
    generations: { ...generations, keepMs },
    http,
    workers,
    stopDeadlineMs,
    baseFolder,
  };
}

function unusable(origin: string, problems: readonly string[]): MillraceError {
  return new MillraceError(
    'config_invalid',
    `${origin} cannot be used:\n${problems.map((line) => `  ${line}`).join('\n')}`,
  );
}

function failedSpec({ retention, ...choice }: Record<string, unknown>) {
  return { failed: connectorSpec(choice), failedRetentionMs: retention as number | undefined };
}

function connectorSpec(choice: Record<string, unknown>): ConnectorSpec {
  const [connector, config] = Object.entries(choice)[0]!;
  return { connector, config };
}
