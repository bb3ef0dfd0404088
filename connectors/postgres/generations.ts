import { MillraceError } from '../../src/errors/millrace-error.js';
import type { Clock } from '../../src/contracts/context.js';
import type {
  Generation,
  Generations,
  GenerationView,
  SampleVector,
} from '../../src/contracts/generations.js';
import type { SpaceLayout, StoreLayout } from '../../src/contracts/store.js';
import { sqlArtifacts } from './artifacts.js';
import type { SqlConnection, SqlStep } from './connection.js';
import { countDocuments } from './count.js';
import { planByKey } from './fence-sql.js';
import { indexNames } from './generation-indexes.js';
import { generationKey } from './generation-key.js';
import * as sql from './generations-sql.js';
import { endKeeping } from './kept-texts.js';
import { orderedSpaces, readLayout, type FoundLayout } from './layout.js';
import type { TableNames } from './names.js';
import { roomOf } from './room-sql.js';
import { shownName } from './show-view.js';
import { showSql } from './view-sql.js';
import { createSqlSearch } from './sql-search.js';
import { createSqlSink } from './sql-sink.js';
import { storedDocument } from './stored-document.js';
import { addTermsColumn } from './terms-column.js';
import { columnStatements, type VectorType } from './vector-columns.js';
import { dropIndexSql } from './index-plan.js';
import type { IndexRule } from './vector-index.js';

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

/** Rows of one removal: a statement that anybody can wait for. */
const removedAtOnce = 5_000;

export function createSqlGenerations(parts: SqlGenerationsParts): Generations {
  const { connection, names, pipeline, clock, vectors, concurrently, tune, check } = parts;
  const keyOf = (number: number) => generationKey(pipeline, number);
  const find = (which: number | 'active', signal?: AbortSignal) =>
    readLayout(connection, names, pipeline, which, signal);

  async function active(signal?: AbortSignal): Promise<number | undefined> {
    const found = await find('active', signal);
    return found === undefined || found.spaces.length === 0 ? undefined : found.generation;
  }

  /** With rows found by their keys. @returns whether all steps took effect */
  async function transact(steps: readonly SqlStep[], signal?: AbortSignal) {
    const done = await connection.transaction([planByKey, ...steps], signal);
    return { whole: done.length === steps.length + 1, rows: done.at(-1)! };
  }

  async function remove(number: number, signal?: AbortSignal): Promise<void> {
    const key = keyOf(number);
    const found = await find(number, signal);
    for (const index of found === undefined ? [] : indexNames(found))
      await connection.query(dropIndexSql(names, index, concurrently), signal);
    for (const table of [names.chunks, names.ledger])
      for (let removed = removedAtOnce; removed === removedAtOnce;) {
        const { rows } = await transact([sql.removeSql(table, key, removedAtOnce)], signal);
        removed = rows[0]!['rows'] as number;
      }
    await transact(sql.forgetSql(names, pipeline, number, key), signal);
    await endKeeping(connection, names, pipeline, signal);
  }

  return {
    active,
    others: async (signal) => {
      if ((await active(signal)) === undefined) return [];
      const rows = await connection.query(sql.otherGenerationsSql(names, pipeline), signal);
      return (rows as unknown as readonly ListedRow[]).map(({ number, state, since }) => ({
        number,
        state: shownState(state),
        since,
      }));
    },
    list: async (signal) => {
      if ((await active(signal)) === undefined) return [];
      const rows = await connection.query(sql.listGenerationsSql(names, pipeline), signal);
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
          const columns = found.spaces.map(({ column }) => column);
          const rows = await connection.query(sql.vectorsSql(names, found.key, columns, of), signal);
          return new Map(rows.flatMap((row) => sample(row, found)));
        },
      } satisfies GenerationView;
    },
    start: async (layout, chain) => {
      check(layout);
      const spaces = orderedSpaces(layout, vectors);
      const columns = columnStatements(names, spaces.length, vectors);
      const steps = [...columns, sql.startSql(names, pipeline, spaces, chain)];
      if (layout.terms) await addTermsColumn(connection, names);
      const done = await connection.transaction(steps);
      if (done.length < steps.length)
        throw new MillraceError('store_layout', `Pipeline ${JSON.stringify(pipeline)} holds nothing yet.`, {
          hint: 'Fill it first: `millrace run`.',
        });
      return done.at(-1)![0]!['number'] as number;
    },
    enlist: async (number, signal) => {
      await transact(sql.enlistSql(names, pipeline, number, keyOf(number)), signal);
    },
    claim: async (number, options, signal) => {
      const { rows } = await transact([sql.claimSql(names, pipeline, number, options)], signal);
      return rows.map((row) => ({
        documentId: row['document_id'] as string,
        mark: row['mark'] as string,
        chunks: row['chunks'] as number,
      }));
    },
    behind: async (number, signal) => {
      const rows = await connection.query(sql.behindSql(names, pipeline, number), signal);
      return rows[0] as { documents: number; claimed: number };
    },
    read: async (ids, signal) => {
      const { rows } = await transact([sql.readDocumentsSql(names, pipeline, ids)], signal);
      return rows.map(storedDocument);
    },
    settle: async (number, documents, signal) => {
      await transact([sql.settleSql(names, pipeline, number, documents)], signal);
    },
    reconcile: async (number, signal, by = 'contents') => {
      // In a transaction, which is never sent twice: a second time would find nothing left to note.
      const { rows } = await transact([sql.reconcileSql(names, pipeline, number, keyOf(number), by)], signal);
      return rows[0]!['differing'] as number;
    },
    pause: async (ms, signal) => {
      await connection.query(sql.pauseSql(names, pipeline, ms), signal);
    },
    resume: async () => {
      await connection.query(sql.resumeSql(names, pipeline));
    },
    switchTo: async (to, signal) => {
      const from = await active(signal);
      if (from === undefined || from === to) return from === to;
      const found = await find(to, signal);
      const shown = await shownName(connection, names, pipeline, signal);
      const keys = { from, to, fromKey: keyOf(from), toKey: keyOf(to), shown: shown ?? null };
      const view = shown === undefined ? [] : [showSql(names, pipeline, shown, found!)];
      return (await transact([...sql.switchSql(names, pipeline, keys), ...view], signal)).whole;
    },
    drop: async (number, signal) => {
      if (!(await transact(sql.leaveSql(names, pipeline, number, keyOf(number)), signal)).whole)
        throw new MillraceError(
          'generation_moved',
          `Generation ${number} of pipeline ${JSON.stringify(pipeline)} is the active one.`,
          { hint: 'Switch to another generation first.' },
        );
      await remove(number, signal);
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

/** The first space that the document is in. */
function sample(row: Readonly<Record<string, unknown>>, { spaces }: FoundLayout): [string, SampleVector][] {
  for (const [at, { name }] of spaces.entries()) {
    const text = row[`v${at}`] as string | null;
    if (text === null) continue;
    const vector = Float32Array.from(JSON.parse(text) as number[]);
    return [[row['id'] as string, { space: name, vector }]];
  }
  return [];
}
