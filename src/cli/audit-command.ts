import type { Difference } from '../runtime/audit/difference.js';
import { auditPipeline, type AuditReport } from '../runtime/audit/audit.js';
import type { Command } from './command.js';
import { exitCode } from './exit-code.js';
import { createProgress } from './progress.js';
import { listenForStop } from './signals.js';
import { summaryLine } from './summary-line.js';

export interface AuditFlags {
  readonly repair?: boolean;
  readonly allowMassDeletion?: boolean;
}

/** `millrace audit`: what source and store say of each other. The exit code is 1 when they differ, and it was not mended. */
export const auditCommand: Command<[configPath: string, flags: AuditFlags]> = async (
  { output, connectors, load },
  configPath,
  { repair = false, allowMassDeletion = false },
) => {
  const spec = await load(configPath);
  const progress = createProgress(output, Date.now);
  const stop = listenForStop(() => output.note('stopping'));
  try {
    const report = await auditPipeline(spec, {
      ...{ connectors, repair, allowMassDeletion, signal: stop.drain },
      onEvent: (event) => progress.see(event),
    });
    progress.end();
    for (const { kind, documentId, entry } of report.differences) {
      const version = entry?.version;
      output.data({ kind, documentId, ...(version !== undefined && { version }) });
      output.line(`${kind.padEnd(8)} ${documentId}`);
    }
    const counts = count(report.differences);
    output.data({ inSource: report.inSource, stored: report.stored, ...counts, repair: report.repair });
    output.line(totals(report, counts));
    if (!report.comparedContent)
      output.note(
        'only ids were compared: steps before the chunker change documents, so what is stored is not what the source holds',
      );
    if (report.repair !== undefined) output.line(`repaired: ${summaryLine(report.repair)}`);
    return isSound(report, counts) ? exitCode.ok : exitCode.fault;
  } finally {
    progress.end();
    stop.release();
  }
};

type Counts = Record<Difference['kind'], number>;

function count(differences: readonly Difference[]): Counts {
  const counts: Counts = { missing: 0, stale: 0, orphaned: 0, failed: 0 };
  for (const { kind } of differences) counts[kind] += 1;
  return counts;
}

function totals({ inSource, stored }: AuditReport, counts: Counts): string {
  const found = Object.entries(counts).map(([kind, number]) => `${number} ${kind}`);
  return `${inSource} documents in the source, ${stored} stored: ${found.join(', ')}`;
}

/** Failed elements are known and wait for people. What a repair found changed meanwhile is on its way by itself. */
function isSound({ repair }: AuditReport, { missing, stale, orphaned }: Counts): boolean {
  if (missing + stale + orphaned === 0) return true;
  return repair !== undefined && repair.end === 'complete' && repair.outcomes.failed === 0;
}
