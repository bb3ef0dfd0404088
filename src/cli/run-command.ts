import { secretsIn } from '../config/secrets.js';
import { createRedact } from '../observability/redact.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { runPipeline } from '../runtime/run.js';
import type { Command } from './command.js';
import { exitCodeAfter, exitCodeOf } from './exit-code.js';
import type { HttpAddress } from './http-address.js';
import { plainEvent } from './plain-event.js';
import { redactedOutput } from './redacted-output.js';
import { createRunLog, type LogFormat } from './run-log.js';
import { listenForStop } from './signals.js';
import { summaryLine } from './summary-line.js';

export interface RunFlags {
  readonly watch?: boolean;
  readonly untilIdle?: boolean;
  readonly allowMassDeletion?: boolean;
  readonly http?: HttpAddress;
  readonly log?: LogFormat;
}

/** `millrace run`: brings the source into the store. */
export const runCommand: Command<[configPath: string, flags: RunFlags]> = async (
  context,
  configPath,
  flags,
) => {
  const { connectors, env } = context;
  const spec = withHttp(await context.load(configPath), flags.http, env['MILLRACE_TOKEN']);
  const redact = createRedact(secretsIn(spec));
  const output = redactedOutput(context.output, redact);
  const log = await createRunLog(flags.log, output, redact);
  const stop = listenForStop((step) =>
    log.note(step === 'drain' ? 'stopping: finishing what is under way (again to abort)' : 'aborting'),
  );
  try {
    const summary = await runPipeline(spec, {
      connectors,
      ...(flags.watch === true && { watch: true }),
      ...(flags.untilIdle === true && { watch: false }),
      allowMassDeletion: flags.allowMassDeletion ?? false,
      signal: stop.drain,
      abort: stop.abort,
      onEvent: (event) => {
        if (event.type !== 'batch' && event.type !== 'settled' && event.type !== 'lag')
          output.data(plainEvent(event));
        log.see(event);
      },
    });
    log.end();
    output.line(summaryLine(summary));
    return exitCodeAfter(summary);
  } catch (error) {
    log.end();
    log.fault(error);
    return exitCodeOf(error);
  } finally {
    log.end();
    stop.release();
  }
};

/** A flag wins over the file. */
function withHttp(
  spec: PipelineSpec,
  given: HttpAddress | undefined,
  token: string | undefined,
): PipelineSpec {
  if (given === undefined) return spec;
  const usual = { host: '127.0.0.1', ...(token !== undefined && { token }) };
  return { ...spec, http: { ...usual, ...spec.http, ...given } };
}
