import pg from 'pg';
import { contentHash } from '../../src/elements/hash.js';
import { chunkDifferences } from './chunk-differences.js';
import type { Expected } from './log.js';

export interface VerifyInput {
  readonly url: string;
  readonly pipeline: string;
  /** The schema that went through the torture. */
  readonly schema: string;
  /** One that was filled undisturbed with what must be there; undefined: chunks are only counted. */
  readonly reference?: string | undefined;
  readonly expected: ReadonlyMap<string, Expected>;
  /** Ids of the records among the failed elements. */
  readonly failedRecords: readonly string[];
}

export interface Verdict {
  readonly documents: number;
  readonly chunks: number;
  readonly failed: number;
  /** What is not as it must be; empty when all is well. At most `shown` of each sort. */
  readonly differences: readonly string[];
}

const shown = 20;

/** What must be there, with the choice that failed documents leave made as the store made it, where it may. */
export async function settleFailed(
  url: string,
  schema: string,
  pipeline: string,
  expected: ReadonlyMap<string, Expected>,
): Promise<ReadonlyMap<string, Expected>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; hash: string | null }>(
      `select document_id as id, content_hash as hash from ${schema}.ledger where pipeline = $1 and failed_version is not null`,
      [pipeline],
    );
    const settled = new Map(expected);
    for (const { id, hash } of rows) {
      const due = expected.get(id);
      if (due?.failed !== true) continue;
      const versions = [undefined, due.content, ...due.earlier];
      const held = versions.findIndex((content) => (content && contentHash(content)) === (hash ?? undefined));
      if (held >= 0) settled.set(id, { ...due, content: versions[held] });
    }
    return settled;
  } finally {
    await client.end();
  }
}

/** Compares the store with the log of what was written, by id and content hash, and its chunks with an undisturbed filling. */
export async function verify(input: VerifyInput): Promise<Verdict> {
  const { url, pipeline, schema, reference, expected, failedRecords } = input;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const rows = async <Row>(text: string) => (await client.query(text, [pipeline])).rows as Row[];
  try {
    const ledger = await rows<LedgerRow>(
      `select document_id as id, state, content_hash as hash, chunk_count as chunks, failed_version is not null as failed, version
       from ${schema}.ledger where pipeline = $1`,
    );
    const counts = new Map(
      (
        await rows<{ id: string; count: number }>(
          `select document_id as id, count(*)::int as count from ${schema}.chunks where pipeline = $1 group by 1`,
        )
      ).map(({ id, count }) => [id, count]),
    );
    const differences = [
      ...ledgerDifferences(ledger, expected, counts),
      ...(reference === undefined
        ? []
        : await chunkDifferences(client, { pipeline, schema, reference, limit: shown })),
      ...recordDifferences(failedRecords, expected),
    ];
    return {
      documents: ledger.filter(({ state }) => state === 'stored').length,
      chunks: [...counts.values()].reduce((sum, count) => sum + count, 0),
      failed: failedRecords.length,
      differences,
    };
  } finally {
    await client.end();
  }
}

interface LedgerRow {
  readonly id: string;
  readonly state: string;
  readonly version: string | null;
  readonly hash: string | null;
  readonly chunks: number;
  readonly failed: boolean;
}

function ledgerDifferences(
  ledger: readonly LedgerRow[],
  expected: ReadonlyMap<string, Expected>,
  counts: ReadonlyMap<string, number>,
): string[] {
  const found = new Map(ledger.map((row) => [row.id, row]));
  const differences: string[] = [];
  for (const [id, { content, failed }] of expected) {
    const row = found.get(id);
    const hash = content === undefined ? undefined : contentHash(content);
    const stored = row?.state === 'stored' ? row.hash : undefined;
    if (stored !== hash)
      differences.push(
        `${id}: ${stored ?? 'absent'} (version ${row?.version}) instead of ${hash ?? 'absent'}`,
      );
    if ((row?.failed ?? false) !== failed)
      differences.push(`${id}: ${failed ? 'not ' : ''}marked as failed in the ledger`);
    const due = stored === undefined ? 0 : row!.chunks;
    if ((counts.get(id) ?? 0) !== due)
      differences.push(`${id}: ${counts.get(id) ?? 0} chunks, ${due} by the ledger`);
  }
  for (const id of [...found.keys(), ...counts.keys()])
    if (!expected.has(id)) differences.push(`${id}: unknown to the source`);
  return differences.slice(0, shown);
}

function recordDifferences(records: readonly string[], expected: ReadonlyMap<string, Expected>): string[] {
  const there = new Set(records);
  const missing = [...expected].filter(([id, { failed }]) => failed && !there.has(id));
  const surplus = records.filter((id) => expected.get(id)?.failed !== true);
  return [
    ...missing.slice(0, shown).map(([id]) => `${id}: no record of its failure`),
    ...surplus.slice(0, shown).map((id) => `${id}: a record of a failure that is over`),
    ...(records.length === there.size ? [] : [`${records.length - there.size} records twice`]),
  ];
}
