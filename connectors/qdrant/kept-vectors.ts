import type { StoreWrite } from '../../src/contracts/sink.js';
import type { KeptVectors } from './chunk-points.js';
import { vectorName, type CollectionNames } from './names.js';
import type { NamedVectors, QdrantPort } from './port.js';
import type { Plan } from './plan.js';

type StorePlan = Plan & { readonly write: StoreWrite };

const perRequest = 1000;

/** Reads the vectors that writes keep, from the chunks that the ledger points to. `lacking`: writes that keep what is not there. */
export async function keptVectors(
  port: QdrantPort,
  names: CollectionNames,
  plans: readonly Plan[],
  signal?: AbortSignal,
): Promise<{ readonly vectors: KeptVectors; readonly lacking: readonly Plan[] }> {
  const keeping = plans.filter((plan): plan is StorePlan => keepsSome(plan));
  const found = new Map<string, NamedVectors>();
  const wanted = keeping.flatMap(({ id, base, write }) =>
    base?.writeId === undefined
      ? []
      : keptIds(write).map((chunkId) => ({ doc: id, writeId: base.writeId!, chunkId })),
  );
  const vectors = [
    ...new Set(keeping.flatMap(({ write }) => write.spaces.map(({ space }) => vectorName(space)))),
  ];
  for (let from = 0; from < wanted.length; from += perRequest) {
    const some = wanted.slice(from, from + perRequest);
    const any = (key: string, values: readonly string[]) => ({ key, match: { any: [...new Set(values)] } });
    const filter = {
      must: [
        any(
          'doc',
          some.map(({ doc }) => doc),
        ),
        any(
          'write',
          some.map(({ writeId }) => writeId),
        ),
        any(
          'chunk_id',
          some.map(({ chunkId }) => chunkId),
        ),
      ],
    };
    const { points } = await port.scroll(
      names.chunks,
      { filter, limit: some.length, payload: ['chunk_id'], vectors },
      signal,
    );
    for (const { payload, vector } of points) found.set(payload['chunk_id'] as string, vector);
  }
  const lacks = ({ write }: StorePlan) =>
    write.spaces.some(({ space, vectors: given }) =>
      write.chunks.some(
        ({ id }, at) => given[at] === undefined && !(vectorName(space) in (found.get(id) ?? {})),
      ),
    );
  return { vectors: found, lacking: keeping.filter(lacks) };
}

function keptIds({ chunks, spaces }: StoreWrite): string[] {
  return chunks
    .filter((_, at) => spaces.some(({ vectors }) => vectors[at] === undefined))
    .map(({ id }) => id);
}

function keepsSome({ write }: Plan): boolean {
  return write.kind === 'store' && keptIds(write).length > 0;
}
