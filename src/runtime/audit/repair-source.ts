import type { Delivery, Source } from '../../contracts/source.js';
import type { SourceElement } from '../../elements/document.js';
import { laterVersion, nextVersion, versionOf } from '../../elements/version.js';
import { chunked } from '../../flow/chunked.js';
import type { Difference } from './difference.js';
import { readWhole } from './read-whole.js';

export interface RepairOptions {
  openSource(): Promise<Source>;
  readonly differences: readonly Difference[];
  readonly maxItemBytes: number;
}

const deliverySize = 100;

/**
 * What mends the differences, as a source that ends. A document comes as it is now under the very version that the ledger
 * had, a deletion under the next: whatever came to the ledger since then is newer, and wins.
 */
export async function repairSource({
  openSource,
  differences,
  maxItemBytes,
}: RepairOptions): Promise<Source> {
  const source = await openSource();
  const wanted = new Map(differences.map((difference) => [difference.documentId, difference]));
  const gone = differences.filter(({ kind }) => kind === 'orphaned');

  async function* elements(signal: AbortSignal): AsyncGenerator<SourceElement> {
    for (const { documentId: id, entry } of gone)
      yield { kind: 'deletion', id, version: nextVersion(entry!.version!) };
    for await (const element of readWhole(source, { signal, maxItemBytes, onScope: () => undefined })) {
      const { kind, entry } = wanted.get(element.id) ?? {};
      if (element.kind !== 'document' || (kind !== 'missing' && kind !== 'stale')) continue;
      const version = laterVersion(entry?.version, entry?.failedVersion) ?? versionOf(0, 0n);
      yield { ...element, version };
    }
  }

  return {
    name: source.name,
    async *deliveries({ signal }): AsyncGenerator<Delivery> {
      let some: SourceElement[] = [];
      const settle = () => Promise.resolve();
      for await (const element of elements(signal)) {
        some.push(element);
        if (some.length < deliverySize) continue;
        yield { kind: 'elements', elements: some, settle };
        some = [];
      }
      for (const rest of chunked(some, deliverySize)) yield { kind: 'elements', elements: rest, settle };
    },
  };
}
