import type { Clock } from '../../../src/contracts/context.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { quote, quoteTable } from './publication.js';
import type { RowPlan } from './row-plan.js';
import { keyOf } from './row-element.js';
import { selectRow } from './select-row.js';
import { isVisible, parseSnapshot } from './snapshot.js';
import type { SqlCell, SqlSession } from './sql-session.js';
import type { Tuple } from './tuple.js';

/** A row of which the stream left something out. */
export interface Incomplete {
  readonly plan: RowPlan;
  readonly tuple: Tuple;
  /** The transaction that changed it. */
  readonly xid: number;
  /** It is not in the table any more: a later change says what became of it. */
  gone: boolean;
}

export interface FillOptions {
  readonly maxItemBytes: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const pollMs = 20;

/**
 * Fetches the rows of which the stream left values out because they lie apart and did not change: whole, so that what is
 * made of them was a row at some time. What is read is as it was then, or newer: a newer one comes in the stream as well.
 */
export async function fillAbsent(
  sql: SqlSession,
  rows: readonly Incomplete[],
  { maxItemBytes, clock, signal }: FillOptions,
): Promise<void> {
  for (const [plan, some] of groupBy(rows, ({ plan }) => plan)) {
    // The stream may show a transaction before queries do.
    await untilVisible(sql, [...new Set(some.map(({ xid }) => xid))], clock, signal);
    const there = await columnsNow(sql, plan);
    const missing = plan.mapped.filter((at) => some.some(({ tuple }) => tuple.values[at] === undefined));
    const lost = plan.text.find((at) => missing.includes(at) && !there.has(plan.columns[at]!));
    if (lost !== undefined) throw textLost(plan, plan.columns[lost]!);
    const present = plan.mapped.filter((at) => there.has(plan.columns[at]!));
    for (const { tuple } of some)
      for (const at of missing) if (!present.includes(at)) tuple.values[at] ??= null;
    const keys = plan.key.map((_, place) => some.map(({ tuple }) => keyOf(plan, tuple.values)[place]!));
    const select = selectRow(plan, present, maxItemBytes);
    const join = plan.key
      .map((at, place) => `t.${quote(plan.columns[at]!)} = k.key${place}::${plan.types[at]!.name}`)
      .join(' and ');
    const names = plan.key.map((_, place) => `key${place}`).join(', ');
    const arrays = plan.key.map((_, place) => `$${place + 1}::text[]`).join(', ');
    const found = await sql.rows(
      `select k.row, ${select.size}, ${select.list}
       from unnest(${arrays}) with ordinality k (${names}, row) join ${quoteTable(plan.table)} t on ${join}`,
      keys,
    );
    const rowsFound = new Map(found.map((cells) => [Number(cells[0]) - 1, cells]));
    some.forEach((one, at) => {
      const cells = rowsFound.get(at);
      one.gone = cells === undefined;
      if (cells !== undefined) fill(one.tuple, present, cells.slice(2), Number(cells[1]), maxItemBytes);
    });
  }
}

/** @param size bytes of the texts, also of those that were too large to be read */
function fill(
  tuple: Tuple,
  present: readonly number[],
  cells: readonly SqlCell[],
  size: number,
  maxItemBytes: number,
): void {
  present.forEach((at, place) => {
    tuple.values[at] = cells[place]!;
  });
  const bytes = tuple.values.reduce((sum, value) => sum + Buffer.byteLength(value ?? ''), 0);
  tuple.bytes = Math.max(bytes, size);
  tuple.cut = size > maxItemBytes;
}

/** A column may have been dropped since. */
async function columnsNow(sql: SqlSession, { table }: RowPlan): Promise<ReadonlySet<string>> {
  const rows = await sql.rows(
    'select attname from pg_attribute where attrelid = $1::oid and attnum > 0 and not attisdropped',
    [String(table.oid)],
  );
  return new Set(rows.map(([name]) => name!));
}

function textLost({ table }: RowPlan, column: string): MillraceError {
  return new MillraceError(
    'source_changed',
    `${table.schema}.${table.name} has no column ${column} any more, and the stream left its unchanged value out of an earlier change.`,
    { hint: 'Name the column that holds the text now in `text`, then run again: all rows are read again.' },
  );
}

async function untilVisible(
  sql: SqlSession,
  xids: readonly number[],
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const [row] = await sql.rows('select pg_current_snapshot()');
    const snapshot = parseSnapshot(row![0]!);
    if (xids.every((xid) => isVisible(xid, snapshot))) return;
    await clock.sleep(pollMs, signal);
  }
}

function groupBy<T, K>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}
