import { MillraceError } from '../../src/errors/millrace-error.js';
import type { ConnectorContext } from '../../src/contracts/context.js';
import type { Sink } from '../../src/contracts/sink.js';
import type { Store, StoreCount } from '../../src/contracts/store.js';
import { sqlArtifacts } from './artifacts.js';
import type { SqlConnection } from './connection.js';
import { FirstWrites } from './first-write.js';
import { prepareLayout, readLayout, type FoundSpace } from './layout.js';
import { countUnnamedSql, ledgerEntry, listLedgerSql, listUnnamedSql, selectLedger } from './ledger.js';
import { tableNames } from './names.js';
import { readRanges } from './read-ranges.js';
import { searchChunks } from './search.js';
import { searchTerms } from './search-terms.js';
import { addTermsColumn } from './terms-column.js';
import { tuneStore } from './tune.js';
import { checkIndexRule, indexable, type IndexRule } from './vector-index.js';
import { writeDocuments } from './write.js';

export interface SqlStoreOptions {
  readonly schema: string;
  readonly index: 'auto' | IndexRule;
  /** Number of chunks that `auto` stands for. */
  readonly autoIndex: number;
  /** Other processes work on the same tables at the same time, and the server cleans up by itself. */
  readonly shared: boolean;
}

const maxPipelineBytes = 200;

/** The store over any connection. A store that nobody prepared reads as empty. */
export function createSqlStore(
  connection: SqlConnection,
  { schema, index, autoIndex, shared }: SqlStoreOptions,
  { pipeline, clock, notify }: ConnectorContext,
): Store {
  if (Buffer.byteLength(pipeline) > maxPipelineBytes)
    throw new MillraceError('config_invalid', `name: at most ${maxPipelineBytes} bytes, please.`);
  const names = tableNames(schema);
  const first = new FirstWrites();
  let spaces: readonly FoundSpace[] | undefined;

  /** The spaces of a prepared pipeline. */
  async function found(signal?: AbortSignal): Promise<readonly FoundSpace[] | undefined> {
    const layout = await readLayout(connection, names, pipeline, signal);
    return layout === undefined || layout.spaces.length === 0 ? undefined : layout.spaces;
  }

  /** @throws MillraceError `store_layout` when it is not there */
  function asked(there: readonly FoundSpace[], name: string): FoundSpace {
    const space = named(there, name);
    if (space !== undefined) return space;
    throw new MillraceError(
      'store_layout',
      `Pipeline ${JSON.stringify(pipeline)} has no space ${JSON.stringify(name)} in this store.`,
      { hint: `It has ${there.map((one) => JSON.stringify(one.name)).join(', ')}.` },
    );
  }

  /** They cannot change while there are chunks, so they are asked for once. */
  async function writableSpaces(signal?: AbortSignal): Promise<readonly FoundSpace[]> {
    spaces ??= await found(signal);
    if (spaces !== undefined) return spaces;
    throw new MillraceError(
      'store_layout',
      `Pipeline ${JSON.stringify(pipeline)} has no tables in this store.`,
      {
        hint: 'Prepare the store before the first write: `millrace run` does.',
      },
    );
  }

  const sink: Sink = {
    ledger: async (ids, signal) => {
      if (ids.length === 0 || (await found(signal)) === undefined) return new Map();
      const rows = await connection.query(selectLedger(names, pipeline, ids), signal);
      return new Map(rows.map(ledgerEntry).map((entry) => [entry.documentId, entry]));
    },
    heldChunks: async (space, ids, signal) => {
      const column = ids.length === 0 ? undefined : named(await found(signal), space)?.column;
      if (column === undefined) return new Set();
      const text = `select id from ${names.chunks}
                    where pipeline = $1 and id = any($2::uuid[]) and ${column} is not null`;
      const rows = await connection.query({ text, values: [pipeline, ids] }, signal);
      return new Set(rows.map((row) => row['id'] as string));
    },
    write: async (writes, signal) => {
      if (writes.length === 0) return [];
      return writeDocuments(
        { connection, names, pipeline, clock, first },
        await writableSpaces(signal),
        writes,
        signal,
      );
    },
    countUnnamed: async (scope) => {
      if ((await found()) === undefined) return { stored: 0, unnamed: 0 };
      const rows = await connection.query(countUnnamedSql(names, pipeline, scope));
      return rows[0] as { stored: number; unnamed: number };
    },
    listUnnamed: async (scope, after, limit) => {
      if ((await found()) === undefined) return [];
      const rows = await connection.query(listUnnamedSql(names, pipeline, scope, after, limit));
      return rows.map((row) => row['document_id'] as string);
    },
    listLedger: async (source, after, limit) => {
      if ((await found()) === undefined) return [];
      const rows = await connection.query(listLedgerSql(names, pipeline, source, after, limit));
      return rows.map(ledgerEntry);
    },
  };

  return {
    sink,
    search: {
      searchTerms: async ({ spaces: some, ...query }, signal) => {
        const there = await found(signal);
        if (there === undefined) return [];
        const within = some === undefined ? there : some.map((name) => asked(there, name));
        return searchTerms(connection, names, pipeline, within, query, signal);
      },
      chunks: async (ranges, signal) =>
        (await found(signal)) === undefined
          ? ranges.map(() => [])
          : readRanges(connection, names, pipeline, ranges, signal),
      search: async (query, signal) => {
        const there = await found(signal);
        if (there === undefined) return [];
        const space = asked(there, query.space);
        return searchChunks(connection, names, pipeline, space, query, signal);
      },
    },
    artifacts: sqlArtifacts(connection, names, pipeline),
    prepare: async (layout) => {
      for (const { width } of layout.spaces) checkIndexRule(index, width);
      await prepareLayout(connection, names, pipeline, layout);
      if (layout.terms) await addTermsColumn(connection, names);
      spaces = undefined;
      for (const { width } of layout.spaces)
        if (index === 'auto' && !indexable(width))
          notify({
            level: 'warn',
            code: 'store_not_indexable',
            message: `Vectors of ${width} components are too wide for pgvector's index; every search reads all chunks.`,
          });
    },
    tune: async (signal) => {
      const there = await found(signal);
      if (there === undefined) return;
      const rule = index === 'auto' ? autoIndex : index;
      const options = { index: rule, concurrently: shared, vacuum: !shared };
      await tuneStore(connection, names, pipeline, there, options, signal);
    },
    count: async () => {
      if ((await found()) === undefined) return { documents: 0, chunks: 0 };
      const text = `select (select count(*)::int from ${names.ledger} where pipeline = $1 and state = 'stored') as documents,
                           (select count(*)::int from ${names.chunks} where pipeline = $1) as chunks`;
      const rows = await connection.query({ text, values: [pipeline] });
      return rows[0] as unknown as StoreCount;
    },
    close: () => connection.close(),
  };
}

function named(spaces: readonly FoundSpace[] | undefined, name: string): FoundSpace | undefined {
  return spaces?.find((space) => space.name === name);
}
