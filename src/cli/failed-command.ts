import { counted } from '../elements/counted.js';
import type { FailedFilter, FailedRecord, FailedStore, Stage } from '../contracts/failed-store.js';
import { MillraceError } from '../errors/millrace-error.js';
import { Releasers } from '../flow/releasers.js';
import { systemClock } from '../flow/system-clock.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { failedOf } from '../runtime/failed-of.js';
import { openFailedStore } from '../runtime/open-parts.js';
import { replayFailed } from '../runtime/replay.js';
import type { Command, CommandContext } from './command.js';
import { exitCode } from './exit-code.js';
import { createProgress } from './progress.js';
import { summaryLine } from './summary-line.js';

export interface FailedFlags {
  readonly code?: string;
  readonly stage?: Stage;
  readonly prefix?: string;
}

/** `millrace failed list`: one line a failed element. */
export const failedListCommand: Command<[configPath: string, flags: FailedFlags]> = (
  context,
  configPath,
  flags,
) =>
  withFailedStore(context, configPath, async (failed) => {
    let count = 0;
    for await (const record of failed.list(filterOf(flags))) {
      count += 1;
      context.output.data(record);
      context.output.line(recordLine(record));
    }
    context.output.note(count === 0 ? 'no failed elements' : counted(count, 'failed element'));
  });

/** `millrace failed show`: one failed element whole, with its text. */
export const failedShowCommand: Command<[configPath: string, documentId: string]> = (
  context,
  configPath,
  documentId,
) =>
  withFailedStore(context, configPath, async (failed) => {
    for await (const record of failedOf(failed, [documentId])) {
      context.output.data(record);
      context.output.line(JSON.stringify(record, undefined, 2));
    }
  });

/** `millrace failed discard`: forgets failed elements, by id or by filter. */
export const failedDiscardCommand: Command<
  [configPath: string, documentIds: readonly string[], flags: FailedFlags & { all?: boolean }]
> = (context, configPath, documentIds, flags) =>
  withFailedStore(context, configPath, async (failed) => {
    const choice = choiceOf(documentIds, flags);
    if (Object.keys(choice).length === 0 && flags.all !== true)
      throw new MillraceError('config_invalid', 'Name document ids, a filter, or --all.');
    const records: FailedRecord[] = [];
    for await (const record of failedOf(failed, choice)) records.push(record);
    const discarded = await failed.discard(records);
    context.output.data({ discarded });
    context.output.line(`${counted(discarded, 'failed element')} discarded`);
  });

/** `millrace failed purge`: forgets what is kept for too long. */
export const failedPurgeCommand: Command<[configPath: string, flags: { olderThan?: number }]> = (
  context,
  configPath,
  { olderThan },
) =>
  withFailedStore(context, configPath, async (failed, { failedRetentionMs }) => {
    const keptMs = olderThan ?? failedRetentionMs;
    if (keptMs === undefined)
      throw new MillraceError('config_invalid', 'How old must a failed element be to be purged?', {
        hint: 'Give --older-than 30d, or set `failed.retention` in the configuration.',
      });
    const purged = await failed.expire(new Date(systemClock.now() - keptMs).toISOString());
    context.output.data({ purged });
    context.output.line(`${counted(purged, 'failed element')} purged`);
  });

/** `millrace failed replay`: sends failed elements through the chain again, all, or by id or by filter. */
export const failedReplayCommand: Command<
  [configPath: string, documentIds: readonly string[], flags: FailedFlags]
> = async (context, configPath, documentIds, flags) => {
  const { output, connectors } = context;
  const spec = await context.load(configPath);
  const progress = createProgress(output, Date.now);
  const { runs, unreadable } = await replayFailed(spec, choiceOf(documentIds, flags), {
    connectors,
    onEvent: (event) => progress.see(event),
  }).finally(() => progress.end());
  output.data({ runs, unreadable });
  for (const run of runs) output.line(summaryLine(run));
  if (runs.length === 0) output.line('nothing to replay');
  for (const id of unreadable)
    output.note(`${id} could not be read and holds no text: mend it at its source, then \`millrace run\``);
  return exitCode.ok;
};

async function withFailedStore(
  { connectors, load }: CommandContext,
  configPath: string,
  work: (failed: FailedStore, spec: PipelineSpec) => Promise<void>,
) {
  const releasers = new Releasers();
  try {
    const spec = await load(configPath);
    await work(
      await openFailedStore(spec, { connectors, clock: systemClock, report: () => undefined, releasers }),
      spec,
    );
    return exitCode.ok;
  } finally {
    await releasers.release();
  }
}

function filterOf({ code, stage, prefix }: FailedFlags): FailedFilter {
  return { ...(code && { code }), ...(stage && { stage }), ...(prefix && { idPrefix: prefix }) };
}

/** @throws MillraceError `config_invalid` where both are given, since one of them would count for nothing */
function choiceOf(documentIds: readonly string[], flags: FailedFlags): FailedFilter | readonly string[] {
  const filter = filterOf(flags);
  if (documentIds.length === 0) return filter;
  if (Object.keys(filter).length > 0)
    throw new MillraceError('config_invalid', 'Name document ids or a filter, not both.');
  return documentIds;
}

function recordLine({ documentId, stage, error, attempts, lastAt }: FailedRecord): string {
  const tries = attempts === 1 ? '' : `, ${attempts} attempts`;
  return `${documentId}  ${stage}  ${error.code}  ${error.message} (${lastAt}${tries})`;
}
