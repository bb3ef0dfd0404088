import { runPipeline } from '../runtime/run.js';
import type { Command } from './command.js';
import { exitCodeAfter } from './exit-code.js';
import { createProgress } from './progress.js';
import { listenForStop } from './signals.js';
import { summaryLine } from './summary-line.js';
import { plainEvent } from './plain-event.js';

export interface RunFlags {
  readonly watch?: boolean;
  readonly untilIdle?: boolean;
  readonly allowMassDeletion?: boolean;
}

/** `millrace run`: brings the source into the store. */
export const runCommand: Command<[configPath: string, flags: RunFlags]> = async (
  context,
  configPath,
  flags,
) => {
  const { output, connectors } = context;
  const spec = await context.load(configPath);
  const progress = createProgress(output, Date.now);
  const stop = listenForStop((step) =>
    output.note(step === 'drain' ? 'stopping: finishing what is under way (again to abort)' : 'aborting'),
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
        progress.see(event);
      },
    });
    progress.end();
    output.line(summaryLine(summary));
    return exitCodeAfter(summary);
  } finally {
    progress.end();
    stop.release();
  }
};
