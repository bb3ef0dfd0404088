import type { FailedFilter, FailedRecord, FailedStore } from '../contracts/failed-store.js';
import type { Delivery, Source } from '../contracts/source.js';
import { createDocument, type SourceElement } from '../elements/document.js';
import { chunked } from '../flow/chunked.js';
import { Releasers } from '../flow/releasers.js';
import { systemClock } from '../flow/system-clock.js';
import type { RunSummary } from '../observability/events.js';
import type { PipelineSpec } from '../pipeline/spec.js';
import { failedOf } from './failed-of.js';
import { openFailedStore } from './open-parts.js';
import { runPipeline, type RunOptions } from './run.js';

export interface ReplaySummary {
  /** One a source whose elements were replayed. */
  readonly runs: readonly RunSummary[];
  /** Ids of elements that hold nothing to replay: the source has to be read again once it is mended. */
  readonly unreadable: readonly string[];
}

const deliverySize = 100;

/**
 * Sends failed elements through the whole chain and the fence again: an old failure never overwrites newer data. Records
 * whose element came through, or is outdated by now, are discarded; those that fail again count one more attempt.
 * @param choice ids of documents, or a filter
 * @throws MillraceError `config_invalid` for an id without a record, before anything is replayed
 */
export async function replayFailed(
  spec: PipelineSpec,
  choice: FailedFilter | readonly string[],
  options: Omit<RunOptions, 'source' | 'watch'>,
): Promise<ReplaySummary> {
  const releasers = new Releasers();
  try {
    const report = options.onEvent ?? (() => undefined);
    const context = {
      connectors: options.connectors,
      clock: options.clock ?? systemClock,
      report,
      releasers,
    };
    const failed = await openFailedStore(spec, context);
    const bySource = new Map<string, string[]>();
    const unreadable: string[] = [];
    for await (const { source, documentId, element } of failedOf(failed, choice)) {
      if (element.kind === 'unreadable') unreadable.push(documentId);
      else append(bySource, source, documentId);
    }
    const runs: RunSummary[] = [];
    for (const [name, ids] of bySource) {
      runs.push(
        await runPipeline(spec, { ...options, keepRecords: true, source: replaySource(name, ids, failed) }),
      );
    }
    return { runs, unreadable };
  } finally {
    await releasers.release();
  }
}

/** The failed elements of one source, as a source that ends. */
function replaySource(name: string, documentIds: readonly string[], failed: FailedStore): Source {
  return {
    name,
    async *deliveries({ signal }): AsyncGenerator<Delivery> {
      let handedOver = 0;
      for (const ids of chunked(documentIds, deliverySize)) {
        if (signal.aborted) return;
        const found = await Promise.all(ids.map((id) => failed.get(id)));
        const records = found.flatMap((record) => (record?.source === name ? [record] : []));
        handedOver += ids.length;
        if (records.length === 0) continue;
        yield {
          kind: 'elements',
          elements: records.map(elementOf),
          progress: handedOver / documentIds.length,
          settle: async (outcomes) => {
            const over = records.filter((_, index) => outcomes[index]?.kind !== 'failed');
            if (over.length > 0) await failed.discard(over);
          },
        };
      }
    },
  };
}

function elementOf({ documentId: id, version, element }: FailedRecord): SourceElement {
  if (element.kind !== 'document') return { kind: 'deletion', id, version };
  return createDocument({ id, version, text: element.text ?? '', metadata: element.metadata ?? {} });
}

function append(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
