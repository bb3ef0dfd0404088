import { MillraceError } from '../../src/errors/millrace-error.js';
import type { ConnectorContext } from '../../src/contracts/context.js';
import type { Store } from '../../src/contracts/store.js';
import { sqlArtifacts } from './artifacts.js';
import { tenantColumn, type WantedColumns } from './config-columns.js';
import type { SqlConnection } from './connection.js';
import { countDocuments } from './count.js';
import { createSqlGenerations } from './generations.js';
import { setKeeping, sqlKeptTexts } from './kept-texts.js';
import { prepareLayout, readLayout, type FoundLayout } from './layout.js';
import { tableNames } from './names.js';
import { prepareColumns } from './prepare-columns.js';
import { showView } from './show-view.js';
import { createSqlSearch } from './sql-search.js';
import { createSqlSink } from './sql-sink.js';
import { addTermsColumn } from './terms-column.js';
import { tuneStore } from './tune.js';
import type { VectorType } from './vector-columns.js';
import { checkIndexRule, indexable, type IndexRule } from './vector-index.js';

export interface SqlStoreOptions {
  readonly schema: string;
  readonly index: 'auto' | IndexRule;
  /** What sources give is kept, or no longer; undefined: as the store was told. */
  readonly keepText: boolean | undefined;
  /** How a new filling keeps its vectors. */
  readonly vectors: VectorType;
  readonly columns: WantedColumns;
  /** Bytes left where the store is; absent where that is another machine. */
  readonly freeBytes?: () => Promise<number>;
  /** Name of a view for other tools, or none; undefined: as the store was told. */
  readonly view?: string | false | undefined;
  /** Number of chunks that `auto` stands for. */
  readonly autoIndex: number;
  /** Other processes work on the same tables at the same time, and the server cleans up by itself. */
  readonly shared: boolean;
}

const maxPipelineBytes = 200;

/** The store over any connection. A store that nobody prepared reads as empty. */
export function createSqlStore(
  connection: SqlConnection,
  { schema, index, vectors, columns, keepText, autoIndex, shared, freeBytes, view }: SqlStoreOptions,
  { pipeline, clock, notify }: ConnectorContext,
): Store {
  if (Buffer.byteLength(pipeline) > maxPipelineBytes)
    throw new MillraceError('config_invalid', `name: at most ${maxPipelineBytes} bytes, please.`);
  const names = tableNames(schema);
  const tenant = columns.columns.find(({ name }) => name === tenantColumn);
  const parts = { connection, names, pipeline, clock };
  /** What this store was prepared for: its generation stays, and its spaces cannot change while there are chunks. */
  let prepared: FoundLayout | undefined;

  const active = (signal?: AbortSignal) => readLayout(connection, names, pipeline, 'active', signal);
  const ours = async (signal?: AbortSignal) => prepared ?? (await active(signal));
  /** With the columns that others gave it since. */
  const oursAnew = async (signal?: AbortSignal) => {
    if (prepared === undefined) return active(signal);
    return (prepared = await readLayout(connection, names, pipeline, prepared.generation, signal));
  };

  const tuning = {
    index: index === 'auto' ? autoIndex : index,
    concurrently: shared,
    vacuum: !shared,
    clock,
    notify,
  };
  const tune = async (there: FoundLayout | undefined, signal?: AbortSignal) => {
    if (there !== undefined && there.spaces.length > 0)
      await tuneStore(connection, names, there, tuning, signal);
  };

  return {
    sink: createSqlSink({ ...parts, role: 'active', locate: ours, relocate: oursAnew }),
    search: createSqlSearch({ ...parts, locate: active }),
    ...(tenant !== undefined && { tenant: tenant.path }),
    artifacts: sqlArtifacts(connection, names, async () => (await ours())?.key ?? pipeline),
    memory: sqlArtifacts(connection, names, async () => pipeline),
    texts: sqlKeptTexts(connection, names, pipeline),
    generations: createSqlGenerations({
      ...parts,
      tune,
      vectors,
      index: tuning.index,
      freeBytes: async () => freeBytes?.(),
      concurrently: shared,
      check: (layout) => layout.spaces.forEach(({ width }) => checkIndexRule(index, width)),
    }),
    prepare: async (layout) => {
      for (const { width } of layout.spaces) checkIndexRule(index, width);
      const generation = await prepareLayout(connection, names, pipeline, layout, vectors);
      if (layout.terms) await addTermsColumn(connection, names);
      await prepareColumns(connection, names, pipeline, columns);
      if (keepText !== undefined) await setKeeping(connection, names, pipeline, keepText);
      prepared = await readLayout(connection, names, pipeline, generation);
      await showView(connection, names, pipeline, prepared!, view);
      const kept = prepared?.spaces[0]?.type;
      if (kept !== undefined && kept !== vectors)
        notify({
          level: 'warn',
          code: 'store_vectors_kept',
          message: `The vectors of this pipeline are stored as ${kept}; \`vectors: ${vectors}\` counts from its next generation.`,
        });
      for (const { width } of layout.spaces)
        if (index === 'auto' && !indexable(width))
          notify({
            level: 'warn',
            code: 'store_not_indexable',
            message: `Vectors of ${width} components are too wide for pgvector's index; every search reads all chunks.`,
          });
    },
    // What was found at the start knows nothing of an index that was built since.
    tune: async (signal) => {
      const there = await readLayout(connection, names, pipeline, prepared?.generation ?? 'active', signal);
      await tune(there, signal);
    },
    count: async () => {
      const there = await ours();
      if (there === undefined || there.spaces.length === 0) return { documents: 0, chunks: 0 };
      return countDocuments(connection, names, there.key);
    },
    close: () => connection.close(),
  };
}
