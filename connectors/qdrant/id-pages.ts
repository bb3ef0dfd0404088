import type { Json } from '../../src/elements/metadata.js';
import type { PointFilter, QdrantPort } from './port.js';

/** Which documents of the ledger, in the order of their ids. */
export interface IdScope {
  readonly filter: PointFilter;
  /** What the server cannot decide. */
  accepts(documentId: string): boolean;
  /** Equal for equal scopes. */
  readonly key: string;
}

interface Held {
  readonly key: string;
  /** Everything up to here was handed out or is in `ids`. */
  after: string | undefined;
  ids: string[];
  /** There is more behind the last of `ids`. */
  readonly more: boolean;
}

const perScroll = 10_000;

/**
 * Ids in the order of their bytes, page by page. Qdrant cannot order by text, so the ledger is read through and the
 * lowest ids beyond the last page are held for the pages to come: `most` of them, whatever the ledger's size.
 */
export function createIdPages(port: QdrantPort, collection: string, most = 100_000) {
  let held: Held | undefined;

  async function read(scope: IdScope, after: string | undefined, signal?: AbortSignal): Promise<Held> {
    let ids: string[] = [];
    let more = false;
    const keepLowest = () => {
      ids.sort(byBytes);
      more ||= ids.length > most;
      ids = ids.slice(0, most);
    };
    for await (const id of scan(port, collection, scope, signal)) {
      if (after !== undefined && byBytes(id, after) <= 0) continue;
      ids.push(id);
      if (ids.length >= 2 * most) keepLowest();
    }
    keepLowest();
    return { key: scope.key, after, ids, more };
  }

  return async function page(
    scope: IdScope,
    after: string | undefined,
    limit: number,
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    // The first page of a listing, and whatever does not go on where the last one ended, is read afresh.
    const goesOn =
      held !== undefined && after !== undefined && held.key === scope.key && held.after === after;
    if (!goesOn || (held!.ids.length < limit && held!.more)) held = await read(scope, after, signal);
    const ids = held!.ids.slice(0, limit);
    held = { ...held!, ids: held!.ids.slice(limit), after: ids.at(-1) ?? after };
    return ids;
  };
}

/** Every document id of a scope, in no order. */
export async function* scan(
  port: QdrantPort,
  collection: string,
  { filter, accepts }: Omit<IdScope, 'key'>,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  for (let offset: string | undefined; ;) {
    const request = {
      filter,
      limit: perScroll,
      payload: ['document_id'],
      ...(offset !== undefined && { offset }),
    };
    const { points, next } = await port.scroll(collection, request, signal);
    for (const { payload } of points) {
      const id = payload['document_id'] as Json as string;
      if (accepts(id)) yield id;
    }
    if (next === undefined) return;
    offset = next;
  }
}

/** The order of Postgres' collation "C". */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
