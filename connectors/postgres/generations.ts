import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Clock } from '../../src/contracts/context.js';
import type { Generation, Generations, GenerationView } from '../../src/contracts/generations.js';
import type { SpaceLayout, StoreLayout } from '../../src/contracts/store.js';
import { sqlArtifacts } from './artifacts.js';
import { behindSql, claimSql, enlistSql, reconcileSql, settleSql } from './behind-sql.js';
import type { SqlConnection, SqlStep } from './connection.js';
import { countDocuments } from './count.js';
import { generationKey } from './generation-key.js';
import {
  leaveSql,
  listGenerationsSql,
  otherGenerationsSql,
  pauseSql,
  resumeSql,
  startSql,
  switchSql,
} from './generations-sql.js';
import { endKeeping } from './kept-texts.js';
import { orderedSpaces, readLayout, type FoundLayout } from './layout.js';
import type { TableNames } from './names.js';
import { readDocuments } from './read-documents.js';
import { removeGeneration } from './remove-generation.js';
import { roomOf } from './room-sql.js';
import { sampleVectors } from './sample-vectors.js';
import { shownName } from './show-view.js';
import { createSqlSearch } from './sql-search.js';
import { createSqlSink } from './sql-sink.js';
import { addTermsColumn } from './terms-column.js';
import { transactByKey } from './transact-by-key.js';
import { columnStatements, type VectorType } from './vector-columns.js';
import type { IndexRule } from './vector-index.js';
import { showSql } from './view-sql.js';

export interface SqlGenerationsParts {
  readonly connection: SqlConnection;
  readonly names: TableNames;
  readonly pipeline: string;
  readonly clock: Clock;
  /** How a new generation keeps its vectors. */
  readonly vectors: VectorType;
  readonly index: IndexRule;
  /** Others go on while an index is dropped. */
  readonly concurrently: boolean;
  /** Bytes left where the store is; undefined where nobody can tell. */
  freeBytes(): Promise<number | undefined>;
  tune(found: FoundLayout | undefined, signal?: AbortSignal): Promise<void>;
  /** @throws MillraceError `config_invalid` for vectors that cannot be indexed as asked */
  check(layout: StoreLayout): void;
}

export function createSqlGenerations(parts: SqlGenerationsParts): Generations {
  const { connection, names, pipeline, clock, vectors, tune, check } = parts;
  const keyOf = (number: number) => generationKey(pipeline, number);
  const find = (which: number | 'active', signal?: AbortSignal) =>
    readLayout(connection, names, pipeline, which, signal);

  async function active(signal?: AbortSignal): Promise<number | undefined> {
    const found = await find('active', signal);
    return found === undefined || found.spaces.length === 0 ? undefined : found.generation;
  }

  const transact = (steps: readonly SqlStep[], signal?: AbortSignal) =>
    transactByKey(connection, steps, signal);

  return {
    active,
    others: async (signal) => {
      if ((await active(signal)) === undefined) return [];
      const rows = await connection.query(otherGenerationsSql(names, pipeline), signal);
      return (rows as unknown as readonly ListedRow[]).map(({ number, state, since }) => ({
        number,
        state: shownState(state),
        since,
      }));
    },
    list: async (signal) => {
      if ((await active(signal)) === undefined) return [];
      const rows = await connection.query(listGenerationsSql(names, pipeline), signal);
      const found: Generation[] = [];
      for (const row of rows as unknown as readonly ListedRow[]) {
        const { number, since, behind, spaces } = row;
        const state = shownState(row.state);
        const count = await countDocuments(connection, names, keyOf(number), signal);
        found.push({ number, state, spaces, since, behind, count });
      }
      return found;
    },
    room: async ({ spaces }, signal) => {
      const found = await find('active', signal);
      const widths = spaces.map(({ width }) => width);
      const options = { widths, vectors, index: parts.index };
      const bytes = found === undefined ? 0 : await roomOf(connection, names, found.key, options, signal);
      return { bytes, freeBytes: await parts.freeBytes() };
    },
    view: (number) => {
      const locate = (signal?: AbortSignal) => find(number, signal);
      return {
        sink: createSqlSink({
          connection,
          names,
          pipeline,
          clock,
          role: 'follower',
          locate,
          relocate: locate,
        }),
        search: createSqlSearch({ connection, names, pipeline, locate }),
        artifacts: sqlArtifacts(connection, names, async () => keyOf(number)),
        tune: async (signal) => tune(await locate(signal), signal),
        vectors: async (of, signal) => {
          const found = await locate(signal);
          if (found === undefined || found.spaces.length === 0) return new Map();
          return sampleVectors(connection, names, found, of, signal);
        },
      } satisfies GenerationView;
    },
    start: async (layout, chain) => {
      check(layout);
      const spaces = orderedSpaces(layout, vectors);
      const columns = columnStatements(names, spaces.length, vectors);
      const steps = [...columns, startSql(names, pipeline, spaces, chain)];
      if (layout.terms) await addTermsColumn(connection, names);
      const done = await connection.transaction(steps);
      if (done.length < steps.length)
        throw new MillraceError('store_layout', `Pipeline ${JSON.stringify(pipeline)} holds nothing yet.`, {
          hint: 'Fill it first: `millrace run`.',
        });
      return done.at(-1)![0]!['number'] as number;
    },
    enlist: async (number, signal) => {
      await transact(enlistSql(names, pipeline, number, keyOf(number)), signal);
    },
    claim: async (number, options, signal) => {
      const { rows } = await transact([claimSql(names, pipeline, number, options)], signal);
      return rows.map((row) => ({
        documentId: row['document_id'] as string,
        mark: row['mark'] as string,
        chunks: row['chunks'] as number,
      }));
    },
    behind: async (number, signal) => {
      const rows = await connection.query(behindSql(names, pipeline, number), signal);
      return rows[0] as { documents: number; claimed: number };
    },
    read: (ids, signal) => readDocuments(connection, names, pipeline, ids, signal),
    settle: async (number, documents, signal) => {
      await transact([settleSql(names, pipeline, number, documents)], signal);
    },
    reconcile: async (number, signal, by = 'contents') => {
      // In a transaction, which is never sent twice: a second time would find nothing left to note.
      const { rows } = await transact([reconcileSql(names, pipeline, number, keyOf(number), by)], signal);
      return rows[0]!['differing'] as number;
    },
    pause: async (ms, signal) => {
      await connection.query(pauseSql(names, pipeline, ms), signal);
    },
    resume: async () => {
      await connection.query(resumeSql(names, pipeline));
    },
    switchTo: async (to, signal) => {
      const from = await active(signal);
      if (from === undefined || from === to) return from === to;
      const found = await find(to, signal);
      const shown = await shownName(connection, names, pipeline, signal);
      const keys = { from, to, fromKey: keyOf(from), toKey: keyOf(to), shown: shown ?? null };
      const view = shown === undefined ? [] : [showSql(names, pipeline, shown, found!)];
      return (await transact([...switchSql(names, pipeline, keys), ...view], signal)).whole;
    },
    drop: async (number, signal) => {
      if (!(await transact(leaveSql(names, pipeline, number, keyOf(number)), signal)).whole)
        throw new MillraceError(
          'generation_moved',
          `Generation ${number} of pipeline ${JSON.stringify(pipeline)} is the active one.`,
          { hint: 'Switch to another generation first.' },
        );
      await removeGeneration(parts, number, await find(number, signal), signal);
      await endKeeping(connection, names, pipeline, signal);
    },
  };
}

/** What was begun is being filled, also before its documents are listed. */
function shownState(state: ListedRow['state']): Generation['state'] {
  return state === 'listing' ? 'filling' : state;
}

interface ListedRow {
  readonly number: number;
  readonly state: Generation['state'] | 'listing';
  readonly spaces: readonly SpaceLayout[];
  readonly since: number;
  readonly behind: number;
}
