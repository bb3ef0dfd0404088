import { counted } from '../elements/counted.js';
import type { Generation } from '../contracts/generations.js';
import type { RunEvent } from '../observability/events.js';
import {
  dropGeneration,
  listGenerations,
  withReindex,
  withRollback,
  type GenerationsOptions,
} from '../runtime/generations/run-generations.js';
import { forecastLine, tooLittleRoom } from '../runtime/generations/forecast.js';
import { overlapLine } from '../runtime/generations/overlap.js';
import type { Reindex } from '../runtime/generations/reindex.js';
import type { Command, CommandContext } from './command.js';
import { exitCode, type ExitCode } from './exit-code.js';
import { createProgress } from './progress.js';
import { listenForStop } from './signals.js';

export interface FillFlags {
  readonly rate?: number;
  readonly fromSource?: boolean;
}

export interface SwitchFlags extends FillFlags {
  readonly overlap?: number;
}

/** `millrace generations list`: one line a generation. */
export const generationsListCommand: Command<[configPath: string]> = async (context, configPath) => {
  const { output, connectors } = context;
  const found = await listGenerations(await context.load(configPath), { connectors });
  for (const generation of found) {
    output.data(generation);
    output.line(generationLine(generation));
  }
  if (found.length === 0) output.note('nothing stored yet');
  return exitCode.ok;
};

/** `millrace generations start`: fills a generation for the chain of the configuration. */
export const generationsStartCommand: Command<[configPath: string, flags: FillFlags]> = (
  context,
  configPath,
  flags,
) =>
  work(context, configPath, flags, withReindex, async (reindex) => {
    const { number, active } = reindex;
    if (number === active) {
      context.output.line(`generation ${number} is the active one already`);
      return exitCode.ok;
    }
    const { forecast } = reindex;
    context.output.note(`generation ${number} beside generation ${active}: ${forecastLine(forecast)}`);
    if (tooLittleRoom(forecast))
      context.output.note(
        'warning: that is more than is free; drop what is not needed, or stop and make room',
      );
    const { documents, embedded, refused } = await reindex.fill();
    context.output.data({ number, documents, embedded, refused: [...refused.keys()] });
    context.output.line(
      `generation ${number}: ${counted(documents, 'document')} taken over, ${counted(embedded, 'chunk')} embedded`,
    );
    for (const [id, error] of refused) context.output.note(`${id}: ${error.message}`);
    return refused.size > 0 ? exitCode.fault : exitCode.ok;
  });

/** `millrace generations switch`, and `rollback`: makes the generation of the configured chain the active one. */
export const generationsSwitchCommand: Command<[configPath: string, flags: SwitchFlags]> = (
  context,
  configPath,
  flags,
) => switchTo(context, configPath, flags, withReindex, flags.overlap);

/** Back to the generation that served before, by either configuration: its answers need not be like those of now. */
export const generationsRollbackCommand: Command<[configPath: string, flags: FillFlags]> = (
  context,
  configPath,
  flags,
) => switchTo(context, configPath, flags, withRollback, 0);

/** `millrace generations drop`: removes one that is not active. */
export const generationsDropCommand: Command<[configPath: string, number: number]> = async (
  context,
  configPath,
  number,
) => {
  const { output, connectors } = context;
  await dropGeneration(await context.load(configPath), number, { connectors });
  output.data({ dropped: number });
  output.line(`generation ${number} is gone`);
  return exitCode.ok;
};

async function switchTo(
  context: CommandContext,
  configPath: string,
  flags: FillFlags,
  open: typeof withReindex,
  overlap: number | undefined,
): Promise<ExitCode> {
  return work(context, configPath, flags, open, async (reindex, least) => {
    const { number, active } = reindex;
    const found = await reindex.switch(overlap ?? least);
    const { asked, share, canaries } = found;
    context.output.data({ active: number, before: active, overlap: share, asked, canaries });
    context.output.line(
      number === active
        ? `generation ${number} is the active one already`
        : `generation ${number} is active; it shares with generation ${active} ${overlapLine(found)}`,
    );
    return exitCode.ok;
  });
}

async function work(
  context: CommandContext,
  configPath: string,
  { rate, fromSource }: FillFlags,
  open: typeof withReindex,
  done: (reindex: Reindex, leastOverlap: number) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { output, connectors } = context;
  const spec = await context.load(configPath);
  const progress = createProgress(output, Date.now);
  const stop = listenForStop((step) =>
    output.note(step === 'drain' ? 'stopping: finishing what is under way (again to abort)' : 'aborting'),
  );
  const options: GenerationsOptions = {
    connectors,
    signal: stop.drain,
    abort: stop.abort,
    onEvent: (event: RunEvent) => progress.see(event),
    fromSource,
    ...(rate !== undefined && { rate }),
  };
  try {
    return await open(spec, options, (reindex) => done(reindex, spec.generations.minOverlap));
  } finally {
    progress.end();
    stop.release();
  }
}

function generationLine({ number, state, count, behind, spaces, since }: Generation): string {
  const widths = spaces
    .map(({ name, width }) => (name === '*' ? `${width}` : `${name}: ${width}`))
    .join(', ');
  const waits = behindWords(state, behind);
  return `${number}  ${state} since ${new Date(since).toISOString()}  ${counted(count.documents, 'document')}, ${counted(count.chunks, 'chunk')} of ${widths} components${waits}`;
}

/** What was switched off takes over what came since, a newer version of the same text too, only at a switch back. */
function behindWords(state: Generation['state'], behind: number): string {
  switch (state) {
    case 'filling':
      return `, behind in ${behind}`;
    case 'retired':
      return `; a switch back takes over the ${behind} written or confirmed since`;
    case 'active':
    case 'leaving':
      return '';
    default:
      return state satisfies never;
  }
}
