import type { Changed } from './behind.js';
import type { Payload, PointRecord, QdrantPort } from './port.js';

const perScroll = 5_000;
const facts = ['version', 'state', 'content_hash', 'chunk_count', 'failed_version'] as const;

/**
 * Documents of one ledger that the other does not hold alike, page by page. Both are read through at once in the order of
 * their points; a document that is written meanwhile may be named though it is alike by then.
 */
export async function* differing(
  port: QdrantPort,
  ledger: string,
  other: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly Changed[]> {
  const theirs = inOrder(port, other, signal);
  let next = await theirs.next();
  for await (const page of pages(port, ledger, signal)) {
    const found: Changed[] = [];
    for (const { id, payload } of page) {
      while (!next.done && next.value.id < id) next = await theirs.next();
      const same = !next.done && next.value.id === id && alike(payload, next.value.payload);
      if (!same) found.push({ id, documentId: payload['document_id'] as string });
    }
    if (found.length > 0) yield found;
  }
}

/** Every document of a ledger, page by page. */
export async function* pages(
  port: QdrantPort,
  ledger: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly PointRecord[]> {
  for (let offset: string | undefined; ;) {
    const payload = ['document_id', ...facts];
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

function alike(one: Payload, other: Payload): boolean {
  return facts.every((fact) => one[fact] === other[fact]);
}
