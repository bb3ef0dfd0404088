import { MillraceError } from '../../errors/millrace-error.js';
import { isMassDeletion } from '../../elements/mass-deletion.js';
import { Releasers } from '../../flow/releasers.js';
import { systemClock } from '../../flow/system-clock.js';
import type { RunSummary } from '../../observability/events.js';
import type { PipelineSpec } from '../../pipeline/spec.js';
import { createPatientSink } from '../../pipeline/patient-sink.js';
import { openSource, openStore } from '../open-parts.js';
import { runPipeline, type RunOptions } from '../run.js';
import { compare, type Comparison } from './compare.js';
import { repairSource } from './repair-source.js';

export interface AuditOptions extends Pick<
  RunOptions,
  'connectors' | 'clock' | 'onEvent' | 'allowMassDeletion'
> {
  readonly signal: AbortSignal;
  /** Mends what is missing, stale or orphaned. */
  readonly repair: boolean;
}

export interface AuditReport extends Comparison {
  /** False where steps before the chunker change documents: then only their presence was compared. */
  readonly comparedContent: boolean;
  /** What the repair did; undefined where there was none, or nothing to mend. */
  readonly repair: RunSummary | undefined;
}

/**
 * Compares what a source holds now with what its store holds of it, by id and hash of the content, and changes nothing
 * unless it is told to repair.
 * @throws MillraceError `config_invalid` for a source that keeps no whole; `mass_deletion` before a repair that would
 * delete implausibly much
 */
export async function auditPipeline(spec: PipelineSpec, options: AuditOptions): Promise<AuditReport> {
  const { connectors, signal, clock = systemClock, onEvent: report = () => undefined } = options;
  const releasers = new Releasers();
  try {
    const context = { connectors, clock, report, releasers };
    const store = await openStore(spec, context);
    const reading = {
      openSource: () => openSource(spec, context),
      maxItemBytes: spec.limits.maxItemBytes,
    };
    const comparedContent = spec.documentSteps.length === 0;
    const sink = createPatientSink({ sink: store.sink, clock, signal, report });
    const comparison = await compare({ ...reading, sink, compareContent: comparedContent, signal });
    const mendable = comparison.differences.filter(({ kind }) => kind !== 'failed');
    const found = { ...comparison, comparedContent, repair: undefined };
    if (!options.repair || mendable.length === 0) return found;
    const orphans = mendable.filter(({ kind }) => kind === 'orphaned').length;
    if (isMassDeletion(orphans, comparison.stored) && options.allowMassDeletion !== true)
      throw new MillraceError(
        'mass_deletion',
        `${orphans} of ${comparison.stored} stored documents are not in the source. Nothing was repaired.`,
        {
          hint: 'If that is right, repair with --allow-mass-deletion. If not, look whether the source is complete.',
        },
      );
    const source = await repairSource({ ...reading, differences: mendable });
    const repair = await runPipeline(spec, {
      ...{ connectors, clock, onEvent: report, signal, source },
      ...{ keepRecords: true, watch: false },
    });
    return { ...found, repair };
  } finally {
    await releasers.release();
  }
}
