import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectors } from '../../../connectors/registry.js';
import type { PipelineInput } from '../../../src/config/schema.js';
import type { AuditContext, Source, SourceFactory } from '../../../src/contracts/source.js';
import type { SourceElement } from '../../../src/elements/document.js';
import { auditPipeline } from '../../../src/runtime/audit/audit.js';
import { startCdcServer, type CdcServer } from '../../connectors/postgres/cdc/bed.js';
import { usePglite } from '../../promises/bed.js';
import { patience } from '../../suites/store-harness.js';
import { spoil } from './spoil.js';

const openBed = usePglite();
let server: CdcServer;
beforeAll(async () => {
  server = await startCdcServer();
}, patience);
afterAll(() => server?.stop());

/** A table of 30 rows, brought into a store. */
async function openRows(table: string) {
  await server.sql(
    `create table ${table} (id int primary key, body text)`,
    `insert into ${table} select n, 'Text ' || n from generate_series(1, 30) n`,
  );
  const bed = await openBed();
  const input = {
    source: {
      postgres: { url: server.url, table, text: 'body', batch: 10, slot: table, publication: table },
    },
    limits: { maxItemBytes: 1_000 },
  } as Partial<PipelineInput>;
  /** Brings in what was changed since. */
  const follow = () => bed.run({ input, watch: false });
  await follow();
  return { bed, input, follow };
}

type Rows = Awaited<ReturnType<typeof openRows>>;

interface AuditParts {
  readonly repair?: boolean;
  /** Before a reading, and between what it finds and what is made of it. @param reading from 1 */
  readonly at?: (reading: number, when: 'before' | 'after') => Promise<void>;
}

function audit({ bed, input }: Rows, { repair = false, at }: AuditParts = {}) {
  const connector = connectors['postgres']!;
  let readings = 0;
  const load = async (): Promise<SourceFactory<never>> => {
    const open = await connector.source!.load();
    return async (config, context): Promise<Source> => {
      const source = await open(config, context);
      return {
        ...source,
        async *audit(options: AuditContext): AsyncGenerator<SourceElement> {
          const reading = (readings += 1);
          await at?.(reading, 'before');
          const held: SourceElement[] = [];
          for await (const element of source.audit!(options)) held.push(element);
          await at?.(reading, 'after');
          yield* held;
        },
      };
    };
  };
  const wrapped = { ...connectors, postgres: { ...connector, source: { ...connector.source!, load } } };
  return auditPipeline(bed.spec(input), {
    ...{ connectors: wrapped, repair },
    signal: new AbortController().signal,
  });
}

const found = ({ differences }: Awaited<ReturnType<typeof audit>>) =>
  differences.map(({ kind, documentId }) => `${kind} ${documentId}`).sort();

async function idsOf({ bed }: Rows): Promise<string[]> {
  const { chunks } = await bed.content();
  return chunks.map(({ documentId }) => documentId).sort((a, b) => Number(a) - Number(b));
}

const kindsTold = ['failed 4', 'failed 31', 'missing 1', 'orphaned 3', 'orphaned 99', 'stale 2'].sort();

test(
  'rows that are missing, stale, orphaned or failed are told apart; a repair mends all but the failed',
  { timeout: patience },
  async () => {
    const rows = await openRows('told');
    const { bed, follow } = rows;
    expect(found(await audit(rows))).toEqual([]);
    await server.sql(
      "update told set body = repeat('x', 2000) where id = 4",
      "insert into told values (31, repeat('y', 2000)), (99, 'Text 99')",
    );
    await follow();
    await spoil(
      bed,
      "delete from millrace.chunks where $P and document_id = '1'",
      "delete from millrace.ledger where $P and document_id = '1'",
      "update millrace.ledger set content_hash = 'other' where $P and document_id = '2'",
    );
    // Nobody has read these changes yet, as when the slot was lost.
    await server.sql('delete from told where id in (3, 99)');
    const report = await audit(rows);
    expect(found(report)).toEqual(kindsTold);
    expect(report).toMatchObject({ inSource: 30, stored: 30, comparedContent: true, repair: undefined });

    const repaired = await audit(rows, { repair: true });
    expect(found(repaired)).toEqual(kindsTold);
    expect(repaired.repair?.outcomes).toMatchObject({ stored: 2, deleted: 2, failed: 0 });
    expect(found(await audit(rows))).toEqual(['failed 31', 'failed 4']);
    expect((await bed.failed()).map(({ documentId }) => documentId).sort()).toEqual(['31', '4']);
    // The changes that were on their way take nothing back, and the stream goes on where it was.
    await server.sql("update told set body = 'Well again.' where id in (4, 31)");
    await follow();
    expect(found(await audit(rows))).toEqual([]);
    expect(await idsOf(rows)).toEqual([1, 2, ...Array.from({ length: 28 }, (_, at) => at + 4)].map(String));
    expect(await bed.failed()).toEqual([]);
  },
);

test(
  'rows that change between the two looks are not told of, also where they still differ',
  { timeout: patience },
  async () => {
    const rows = await openRows('looked_at');
    await spoil(
      rows.bed,
      "update millrace.ledger set content_hash = 'other' where $P and document_id = '10'",
    );
    await server.sql("update looked_at set body = 'Changed.' where id in (5, 6)");
    const seen: string[] = [];
    const report = await audit(rows, {
      async at(reading, when) {
        seen.push(`${reading} ${when}`);
        // The first look has the old row, and the ledger the new one.
        if (reading === 2 && when === 'after') {
          await server.sql("update looked_at set body = 'Changed.' where id = 9");
          await rows.follow();
          await spoil(
            rows.bed,
            "update millrace.ledger set content_hash = 'other' where $P and document_id in ('5', '6')",
          );
        }
        if (reading === 3 && when === 'before') {
          await server.sql("update looked_at set body = 'Changed again.' where id in (5, 6)");
          await rows.follow();
          // Differs as before, under a newer version.
          await spoil(
            rows.bed,
            "update millrace.ledger set content_hash = 'other' where $P and document_id = '6'",
          );
        }
      },
    });
    expect(seen).toEqual(['1 before', '1 after', '2 before', '2 after', '3 before', '3 after']);
    expect(found(report)).toEqual(['stale 10']);
    expect(found(await audit(rows))).toEqual(['stale 10', 'stale 6']);
  },
);

test('a repair leaves what came to the store since it looked', { timeout: patience }, async () => {
  const rows = await openRows('raced');
  await spoil(
    rows.bed,
    "update millrace.ledger set content_hash = 'other' where $P and document_id in ('5', '8')",
    "delete from millrace.chunks where $P and document_id = '6'",
    "delete from millrace.ledger where $P and document_id = '6'",
  );
  await server.sql('delete from raced where id = 7');
  const report = await audit(rows, {
    repair: true,
    async at(reading, when) {
      // The repair has read the rows, and written nothing yet.
      if (reading !== 4 || when !== 'after') return;
      await server.sql(
        "update raced set body = 'Newest.' where id in (5, 6)",
        "insert into raced values (7, 'Back again.')",
      );
      await rows.follow();
    },
  });
  expect(found(report)).toEqual(['missing 6', 'orphaned 7', 'stale 5', 'stale 8']);
  expect(report.repair?.outcomes).toMatchObject({ stale: 3, stored: 1, deleted: 0, failed: 0 });
  expect(found(await audit(rows))).toEqual([]);
  const texts = await Promise.all(['5', '6', '7', '8'].map((id) => rows.bed.texts(id)));
  expect(texts).toEqual([['Newest.'], ['Newest.'], ['Back again.'], ['Text 8']]);
});
