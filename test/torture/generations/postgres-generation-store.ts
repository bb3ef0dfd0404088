import pg from 'pg';
import { startPostgres } from '../../support/services/postgres.js';
import type { GenerationStore } from './generation-store.js';

/** Rows of a Postgres server, read by SQL. */
export async function startPostgresGenerations(): Promise<GenerationStore> {
  const server = await startPostgres();
  const client = new pg.Pool({ connectionString: server.url, max: 2 });
  client.on('error', () => undefined);
  const keyOf = (pipeline: string, generation: number) =>
    generation === 1 ? pipeline : `${pipeline}#${generation}`;
  const rows = async <Row extends pg.QueryResultRow>(text: string, values: unknown[]) =>
    (await client.query<Row>(text, values)).rows;

  return {
    sink: { postgres: { url: server.url, index: 'off' } },
    ledgerSize: async (pipeline, generation) => {
      // No tables yet.
      const found = await rows<{ there: boolean }>(
        `select to_regclass('millrace.ledger') is not null as there`,
        [],
      );
      if (!found[0]!.there) return 0;
      const counted = await rows<{ count: number }>(
        'select count(*)::int as count from millrace.ledger where pipeline = $1',
        [keyOf(pipeline, generation)],
      );
      return counted[0]!.count;
    },
    contents: async (pipeline, generation) => {
      const found = await rows<{ id: string; count: number; texts: string[] }>(
        `select l.document_id as id, l.chunk_count as count,
           array_remove(array_agg(c.text order by c.ordinal), null) as texts
         from millrace.ledger l left join millrace.chunks c using (pipeline, document_id)
         where l.pipeline = $1 and l.state = 'stored' group by 1, 2`,
        [keyOf(pipeline, generation)],
      );
      const orphans = await rows<{ count: number }>(
        `select count(*)::int as count from millrace.chunks c where pipeline = $1 and not exists (
           select from millrace.ledger l where l.pipeline = c.pipeline and l.document_id = c.document_id and l.state = 'stored')`,
        [keyOf(pipeline, generation)],
      );
      return {
        documents: new Map(found.map(({ id, count, texts }) => [id, { texts, chunkCount: count }])),
        unseen: orphans[0]!.count,
      };
    },
    vectors: async (pipeline, generation, ids) => {
      const found = await rows<{ id: string; ordinal: number; hash: string; vector: string }>(
        `select document_id as id, ordinal, hash, embedding::text as vector from millrace.chunks
         where pipeline = $1 and document_id = any($2)`,
        [keyOf(pipeline, generation), ids],
      );
      return new Map(
        found.map(({ id, ordinal, hash, vector }) => [
          `${id} ${ordinal}`,
          { hash: Buffer.from(hash).toString(), vector: JSON.parse(vector) as number[] },
        ]),
      );
    },
    kept: async (pipeline, generation) => {
      const found = await rows<{ id: string; text: string; stored: boolean }>(
        `select t.document_id as id, t.text, l.state is not null and l.state = 'stored' as stored
         from millrace.texts t
         left join millrace.ledger l on l.pipeline = $2 and l.document_id = t.document_id where t.pipeline = $1`,
        [pipeline, keyOf(pipeline, generation)],
      );
      const own = found.filter(({ stored }) => stored);
      return {
        texts: new Map(own.map(({ id, text }) => [id, text])),
        astray: found.length - own.length,
      };
    },
    stop: async () => {
      await client.end();
      await server.stop();
    },
  };
}
