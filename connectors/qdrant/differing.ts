import type { Changed } from './behind.js';
import { textFields, textRef } from './ledger.js';
import type { Payload, PointRecord, QdrantPort } from './port.js';

const perScroll = 5_000;
const versions = ['version', 'state', 'failed_version'];
const contents = ['content_hash', 'chunk_count'];

/**
 * Documents of one ledger that the other does not hold alike, page by page. Both are read through at once in the order of
 * their points; a document that is written meanwhile may be named though it is alike by then.
 * @param since the epoch since which texts are kept, undefined where they are not
 */
export async function* differing(
  port: QdrantPort,
  ledger: string,
  other: string,
  by: 'contents' | 'versions',
  since: number | undefined,
  signal?: AbortSignal,
): AsyncGenerator<readonly Changed[]> {
  const facts = by === 'contents' ? [...versions, ...contents] : versions;
  const theirs = inOrder(port, other, signal);
  let next = await theirs.next();
  for await (const page of pages(port, ledger, signal)) {
    const found: Changed[] = [];
    for (const { id, payload } of page) {
      while (!next.done && next.value.id < id) next = await theirs.next();
      const own = !next.done && next.value.id === id ? next.value.payload : undefined;
      const same =
        own !== undefined &&
        facts.every((fact) => payload[fact] === own[fact]) &&
        keptHash(payload, since) === keptHash(own, since);
      if (!same) found.push({ id, documentId: payload['document_id'] as string });
    }
    if (found.length > 0) yield found;
  }
}

function keptHash(payload: Payload, since: number | undefined): string | undefined {
  const text = textRef(payload);
  return text?.since === since ? text?.hash : undefined;
}

/** Every document of a ledger, page by page. */
export async function* pages(
  port: QdrantPort,
  ledger: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly PointRecord[]> {
  for (let offset: string | undefined; ;) {
    const payload = ['document_id', ...versions, ...contents, ...textFields];
    const request = { filter: {}, limit: perScroll, payload, ...(offset !== undefined && { offset }) };
    const { points, next } = await port.scroll(ledger, request, signal);
    yield points;
    if (next === undefined) return;
    offset = next;
  }
}

async function* inOrder(
  port: QdrantPort,
  ledger: string,
  signal?: AbortSignal,
): AsyncGenerator<PointRecord, undefined> {
  for await (const page of pages(port, ledger, signal)) yield* page;
  return undefined;
}
