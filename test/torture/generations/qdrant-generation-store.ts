import { setTimeout as delay } from 'node:timers/promises';
import { startQdrant } from '../../support/qdrant/start.js';
import type { GenerationStore, StoredText } from './generation-store.js';

interface PointBody {
  readonly payload: { readonly [field: string]: unknown };
  readonly vector?: { readonly [name: string]: readonly number[] };
}

const perScroll = 5_000;

/** Collections of Qdrant, or of its double, read over the REST API. */
export async function startQdrantGenerations(): Promise<GenerationStore> {
  const given = process.env['QDRANT_URL'];
  const double = given === undefined ? await startQdrant() : undefined;
  const url = given ?? double!.url;
  const prefix = `torture-${process.pid}`;
  const made = new Set<string>();

  async function ask(method: string, path: string, body?: object): Promise<unknown> {
    const request = () =>
      fetch(`${url}/collections/${path}`, {
        method,
        ...(body !== undefined && {
          body: JSON.stringify(body),
          headers: { 'content-type': 'application/json' },
        }),
      });
    let answer = await request().catch(() => undefined);
    // A busy server closes connections that it takes for idle.
    for (let tries = 0; answer === undefined && tries < 20; tries += 1) {
      await delay(100);
      answer = await request().catch(() => undefined);
    }
    answer ??= await request();
    if (answer.status === 404) return undefined;
    const said = (await answer.json()) as { readonly result?: unknown };
    if (!answer.ok) throw new Error(JSON.stringify(said));
    return said.result;
  }

  async function* scroll(collection: string, filter: object, fields: object): AsyncGenerator<PointBody> {
    for (let offset: unknown; ;) {
      const body = { filter, limit: perScroll, ...fields, ...(offset !== undefined && { offset }) };
      const page = (await ask('POST', `${collection}/points/scroll`, body)) as {
        readonly points: readonly PointBody[];
        readonly next_page_offset: unknown;
      };
      yield* page.points;
      offset = page.next_page_offset ?? undefined;
      if (offset === undefined) return;
    }
  }

  const chunks = (pipeline: string, generation: number) => {
    const own = `${prefix}_${pipeline}`;
    made.add(own);
    return generation === 1 ? own : `${own}_g${generation}`;
  };
  const ledger = (pipeline: string, generation: number) => `${chunks(pipeline, generation)}_ledger`;

  return {
    sink: { qdrant: { url, prefix } },
    ledgerSize: async (pipeline, generation) => {
      const counted = await ask('POST', `${ledger(pipeline, generation)}/points/count`, { exact: true });
      return (counted as { readonly count: number } | undefined)?.count ?? 0;
    },
    contents: async (pipeline, generation) => {
      const seen = new Map<string, string[]>();
      let unseen = 0;
      const wanted = { with_payload: ['document_id', 'ordinal', 'text', 'live'] };
      for await (const { payload } of scroll(chunks(pipeline, generation), {}, wanted)) {
        if (payload['live'] !== true) unseen += 1;
        else {
          const id = payload['document_id'] as string;
          const texts = seen.get(id) ?? [];
          const at = payload['ordinal'] as number;
          // Two chunks in one place show as a text twice as long.
          texts[at] = (texts[at] ?? '') + (payload['text'] as string);
          seen.set(id, texts);
        }
      }
      const documents = new Map<string, StoredText>();
      const stored = { must: [{ key: 'state', match: { value: 'stored' } }] };
      const fields = { with_payload: ['document_id', 'chunk_count'] };
      for await (const { payload } of scroll(ledger(pipeline, generation), stored, fields)) {
        const id = payload['document_id'] as string;
        documents.set(id, { texts: seen.get(id) ?? [], chunkCount: payload['chunk_count'] as number });
        seen.delete(id);
      }
      return { documents, unseen: unseen + seen.size };
    },
    vectors: async (pipeline, generation, ids) => {
      const found = new Map<string, { hash: string; vector: readonly number[] }>();
      const filter = {
        must: [
          { key: 'document_id', match: { any: ids } },
          { key: 'live', match: { value: true } },
        ],
      };
      const wanted = { with_payload: ['document_id', 'ordinal', 'hash'], with_vector: true };
      for await (const { payload, vector } of scroll(chunks(pipeline, generation), filter, wanted))
        found.set(`${payload['document_id'] as string} ${payload['ordinal'] as number}`, {
          hash: payload['hash'] as string,
          vector: Object.values(vector!)[0]!,
        });
      return found;
    },
    kept: async (pipeline, generation) => {
      const points = new Map<unknown, string>();
      const given = { with_payload: ['write', 'text'] };
      for await (const { payload } of scroll(`${chunks(pipeline, generation)}_texts`, {}, given))
        points.set(payload['write'], payload['text'] as string);
      const texts = new Map<string, string>();
      const stored = { must: [{ key: 'state', match: { value: 'stored' } }] };
      const fields = { with_payload: ['document_id', 'text_write'] };
      for await (const { payload } of scroll(ledger(pipeline, generation), stored, fields)) {
        const text = points.get(payload['text_write']);
        if (text !== undefined) texts.set(payload['document_id'] as string, text);
        points.delete(payload['text_write']);
      }
      return { texts, astray: points.size };
    },
    stop: async () => {
      if (given !== undefined)
        for (const own of made)
          for (const generation of [own, `${own}_g2`])
            for (const of of ['', '_ledger', '_behind', '_texts', '_artifacts'])
              await ask('DELETE', `${generation}${of}`);
      await double?.close();
    },
  };
}
