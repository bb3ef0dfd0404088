import type { ConnectorContext } from '../../../src/contracts/context.js';
import type { SourceContext } from '../../../src/contracts/source.js';
import { agree } from './agree.js';
import { Assembly } from './assembly.js';
import { Backfill } from './backfill.js';
import { ChangeStream } from './change-stream.js';
import { mappingsOf, type CdcConfig } from './config.js';
import { Confirmations } from './confirmations.js';
import { fillAbsent } from './fill-absent.js';
import { endOfFlushedLog } from './end-of-log.js';
import { parseLsn, printLsn, type Lsn } from './lsn.js';
import type { BackfillMemory, SourceMemory } from './memory.js';
import { ensurePublication, quoteTable } from './publication.js';
import type { Relation } from './relation.js';
import { Replication } from './replication.js';
import { checkFamilies, mappedColumns, mappingDigest, planAll, planRow, type RowPlan } from './row-plan.js';
import { slotBusy, sqlStateOf } from './sql-state.js';
import { openSqlSession, type SqlSession } from './sql-session.js';
import { Standby } from './standby.js';
import { identityMissing, inspectTable, type Table } from './table.js';
import { TypeCatalog } from './type-catalog.js';
import { Watermark } from './watermark.js';

export interface SessionOptions {
  readonly config: CdcConfig;
  readonly names: { readonly slot: string; readonly publication: string; readonly application: string };
  /** This process, for the others. */
  readonly holder: string;
  readonly connector: ConnectorContext;
  readonly context: SourceContext;
}

/** One connection to the stream, with all that belongs to it. */
export interface Session {
  readonly sql: SqlSession;
  readonly stream: ChangeStream;
  readonly assembly: Assembly;
  readonly watermark: Watermark;
  readonly confirmations: Confirmations;
  readonly epoch: number;
  /** The rows that were there before, while they are read. */
  backfill: { readonly reading: Backfill; readonly point: Lsn } | undefined;
  /** Everything up to here was taken. */
  position: Lsn;
  readonly closed: boolean;
  /** Begins to read all rows anew, as they are from now on. */
  reread(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects, makes or checks what is needed, and begins to read; waits its turn while another process does.
 * @throws MillraceError where the configuration or the tables do not fit; what the driver or the server reports as it is
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { config, names, connector, context } = options;
  const closers: (() => Promise<void>)[] = [];
  const end = { closed: false };
  const close = async () => {
    end.closed = true;
    context.signal.removeEventListener('abort', stop);
    await Promise.all(closers.splice(0).map((one) => one()));
  };
  // At once, whatever the one who reads is waiting for.
  const stop = () => void close();
  context.signal.addEventListener('abort', stop, { once: true });
  try {
    const sql = await openSqlSession(config, names.application, connector.clock, context.signal);
    closers.push(() => sql.close());
    // A server that shuts down waits for a stream until all of it is confirmed, which may take any time.
    void sql.ended.then(close);
    const replication = await Replication.open(config, names.application, connector.clock, context.signal);
    closers.push(() => replication.close());
    context.signal.throwIfAborted();
    return await begin(options, sql, replication, end, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function begin(
  { config, names, holder, connector, context }: SessionOptions,
  sql: SqlSession,
  replication: Replication,
  end: { readonly closed: boolean },
  close: () => Promise<void>,
): Promise<Session> {
  const { clock, notify } = connector;
  const { state, signal, maxItemBytes } = context;
  const tables: Table[] = [];
  for (const mapping of mappingsOf(config)) tables.push(await inspectTable(sql, mapping));
  await ensurePublication(sql, { name: names.publication, make: config.make, tables });
  const catalog = new TypeCatalog(sql);
  const plans = await planAll(tables, catalog);
  const types = Object.fromEntries(plans.map(({ table, families }) => [String(table.oid), families]));
  const known = (await state.read()) as SourceMemory | undefined;
  const identify = () => replication.identify();
  // Another cluster has other tables under the same oids.
  if (known?.system === (await identify()).system)
    for (const plan of plans) checkFamilies(plan, known.types[plan.table.oid], 'now');

  const standby = new Standby({
    slot: names.slot,
    takeoverMs: config.takeoverMs,
    state,
    connector,
    signal,
  });
  const mapping = mappingDigest(tables, config.reread);
  for (;;) {
    // Nothing is agreed upon over the head of one that reads.
    await standby.wait(sql);
    const memory = await agree({ sql, state, identify, config, slot: names.slot, mapping, types, notify });
    if (memory === undefined) continue;
    const stream = new ChangeStream(
      replication,
      { wants: wantedOf(tables), maxValueBytes: maxItemBytes },
      clock,
    );
    const from = parseLsn(memory.confirmed);
    try {
      await stream.start({ slot: names.slot, publication: names.publication, from });
    } catch (error) {
      if (sqlStateOf(error) !== slotBusy) throw error;
      continue;
    }
    const watermark = new Watermark(from);
    const confirmations = await Confirmations.begin(state, holder, memory);
    const backfillOf = async (backfill: BackfillMemory) => ({
      reading: new Backfill(backfill, plans, await expectedRows(sql, tables)),
      point: parseLsn(backfill.point),
    });
    const session: Session = {
      sql,
      stream,
      watermark,
      confirmations,
      epoch: memory.epoch,
      backfill: memory.backfill === null ? undefined : await backfillOf(memory.backfill),
      position: from,
      get closed() {
        return end.closed;
      },
      close,
      async reread() {
        const point = await endOfFlushedLog(sql);
        session.backfill = await backfillOf({ point: printLsn(point), tables: {}, rows: 0 });
      },
      assembly: new Assembly({
        stream,
        epoch: memory.epoch,
        rows: config.batch,
        maxItemBytes,
        meet: async (relation) => checkLeaf(sql, tables, relation),
        plan: async (relation, when) => planRelation(tables, catalog, memory.types, relation, when),
        fill: async (rows) => fillAbsent(sql, rows, { maxItemBytes, clock, signal }),
        passed: (lsn) => {
          session.position = lsn;
          watermark.pass(lsn);
        },
      }),
    };
    return session;
  }
}

function wantedOf(tables: readonly Table[]) {
  return ({ id, columns }: Relation): readonly boolean[] | undefined => {
    const table = tables.find(({ oid }) => oid === id);
    if (table === undefined) return undefined;
    const mapped = mappedColumns(table, columns);
    return columns.map(({ name }) => mapped.has(name));
  };
}

async function planRelation(
  tables: readonly Table[],
  catalog: TypeCatalog,
  types: SourceMemory['types'],
  { id, columns }: Relation,
  when: string,
): Promise<RowPlan | undefined> {
  const table = tables.find(({ oid }) => oid === id);
  if (table === undefined) return undefined;
  const plan = planRow(table, columns, await catalog.types(columns.map(({ type }) => type)), when);
  checkFamilies(plan, types[table.oid], when);
  const identifying = plan.id.every((at) => columns[at]!.identifies);
  if (!table.partitioned && !identifying) throw identityMissing(`${table.schema}.${table.name}`, table.id);
  return plan;
}

/** Rows come under the name of the whole table; each partition is described too, and has a replica identity of its own. */
async function checkLeaf(sql: SqlSession, tables: readonly Table[], relation: Relation): Promise<void> {
  if (relation.wanted !== undefined || !tables.some(({ partitioned }) => partitioned)) return;
  const roots = await sql.rows('select relid::oid::int8 from pg_partition_ancestors($1::oid) as relid', [
    String(relation.id),
  ]);
  const table = tables.find(({ oid }) => roots.some(([root]) => Number(root) === oid));
  if (table === undefined) return;
  const identifying = relation.columns.filter(({ identifies }) => identifies).map(({ name }) => name);
  if (!table.id.every((column) => identifying.includes(column)))
    throw identityMissing(`${relation.schema}.${relation.table}`, table.id);
}

/** As the planner guesses, also for tables that were never analyzed. */
async function expectedRows(sql: SqlSession, tables: readonly Table[]): Promise<number> {
  let rows = 0;
  for (const table of tables) {
    const [explained] = await sql.rows(`explain (format json) select from ${quoteTable(table)}`);
    rows += (JSON.parse(explained![0]!) as [{ Plan: { 'Plan Rows': number } }])[0].Plan['Plan Rows'];
  }
  return rows;
}
