import type { Generations, StoredDocument } from '../../../src/contracts/generations.js';
import { deleting, failing, storing } from '../../suites/store-samples.js';
import type { DocumentWrite } from '../../../src/contracts/sink.js';

/** Brings a generation to what the active one holds, as far as it is noted and nobody else has claimed it. */
export async function takeOverAll(generations: Generations, number: number): Promise<void> {
  const { sink } = generations.view(number);
  for (;;) {
    const claimed = await generations.claim(number, { after: '', limit: 100, leaseMs: 1 });
    if (claimed.length === 0) return;
    const documents = await generations.read(claimed.map(({ documentId }) => documentId));
    for (const write of documents.flatMap(writesOf)) await sink.write([write]);
    await generations.settle(number, claimed);
  }
}

function writesOf({ entry, chunks }: StoredDocument): DocumentWrite[] {
  const { documentId, version, state, contentHash, chainDigest, failedVersion } = entry;
  const texts = chunks.map(({ text }) => text);
  const same = { contentHash: contentHash ?? '', chainDigest: chainDigest ?? '' };
  return [
    ...(version !== undefined && state === 'stored'
      ? [{ ...storing(documentId, 1, texts, same), version }]
      : []),
    ...(version !== undefined && state === 'deleted' ? [{ ...deleting(documentId, 1), version }] : []),
    ...(failedVersion !== undefined ? [{ ...failing(documentId, 1), version: failedVersion }] : []),
  ];
}
