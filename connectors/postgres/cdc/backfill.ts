import type { BackfillMemory } from './memory.js';
import { quote, quoteTable } from './publication.js';
import { keyOf } from './row-element.js';
import type { RowPlan } from './row-plan.js';
import { selectRow } from './select-row.js';
import type { SqlSession } from './sql-session.js';
import type { Tuple } from './tuple.js';

/** Rows of one table, in the order of their keys. */
export interface Slice {
  readonly plan: RowPlan;
  readonly rows: readonly Tuple[];
  /** Key of the last one. */
  readonly last: readonly string[];
}

export interface SliceOptions {
  readonly rows: number;
  readonly maxItemBytes: number;
}

/** Bytes of text in a slice at most, unless one row has more. */
const bytesAtOnce = 4 << 20;

/** Reads the rows of a table slice by slice. @returns undefined after the last row */
export async function readSlice(
  sql: SqlSession,
  plan: RowPlan,
  after: readonly string[] | undefined,
  { rows: limit, maxItemBytes }: SliceOptions,
): Promise<Slice | undefined> {
  const select = selectRow(plan, plan.mapped, maxItemBytes);
  const key = (alias: string) => plan.key.map((at) => `${alias}.${quote(plan.columns[at]!)}`).join(', ');
  const from = plan.key.map((at, place) => `$${place + 1}::text::${plan.types[at]!.name}`).join(', ');
  const where = after === undefined ? '' : `where (${key('t')}) > (${from})`;
  const found = await sql.rows(
    `select s.size, ${plan.mapped.map((at) => `s.c${at}`).join(', ')}
     from (select r.*, sum(r.size) over (order by r.place) - r.size as before
           from (select row_number() over () as place, o.* from
                  (select ${select.size} as size, ${select.list} from ${quoteTable(plan.table)} t ${where}
                   order by ${key('t')} limit ${limit}) o) r) s
     where s.before < ${bytesAtOnce} order by s.place`,
    after === undefined ? [] : after,
  );
  if (found.length === 0) return undefined;
  const tuples = found.map(([size, ...cells]): Tuple => {
    const values: Tuple['values'] = new Array(plan.columns.length);
    let length = 0;
    plan.mapped.forEach((at, place) => {
      const cell = cells[place]!;
      values[at] = cell;
      length += cell === null ? 0 : Buffer.byteLength(cell);
    });
    return { values, bytes: Math.max(length, Number(size)), cut: Number(size) > maxItemBytes };
  });
  return { plan, rows: tuples, last: keyOf(plan, tuples.at(-1)!.values) };
}

interface HandedOver {
  readonly oid: number;
  readonly upTo: readonly string[] | 'done';
  readonly rows: number;
  settled: boolean;
}

/** How far the reading of all rows has come: handed over in order, durable without a gap. */
export class Backfill {
  readonly #plans: RowPlan[];
  readonly #reached = new Map<number, readonly string[] | 'done'>();
  readonly #durable: Record<string, readonly string[] | 'done'>;
  readonly #open: HandedOver[] = [];
  readonly #point: string;
  /** Rows that were there when it began. */
  readonly #expected: number;
  /** Handed over, and durable. */
  #read: number;
  #durableRows: number;

  constructor(memory: BackfillMemory, plans: readonly RowPlan[], expected: number) {
    this.#plans = [...plans];
    this.#point = memory.point;
    this.#expected = expected;
    this.#durable = { ...memory.tables };
    this.#read = memory.rows;
    this.#durableRows = memory.rows;
    for (const { table } of plans) {
      const reached = memory.tables[table.oid];
      if (reached !== undefined) this.#reached.set(table.oid, reached);
    }
  }

  /** Some rows are durable already: it was known then that queries see all that came before the point. */
  get begun(): boolean {
    return this.#reached.size > 0;
  }

  get memory(): BackfillMemory {
    return { point: this.#point, tables: { ...this.#durable }, rows: this.#durableRows };
  }

  /** Share of the rows that were handed over; the last of them is only known to be so at the end. */
  get share(): number | undefined {
    return this.#expected === 0 ? undefined : Math.min(0.999, this.#read / this.#expected);
  }

  /** The next rows, over all tables; undefined once all were handed over. */
  async next(sql: SqlSession, options: SliceOptions): Promise<Slice | undefined> {
    for (const plan of this.#plans) {
      const { oid } = plan.table;
      const reached = this.#reached.get(oid);
      if (reached === 'done') continue;
      const slice = await readSlice(sql, plan, reached, options);
      if (slice !== undefined) {
        this.#reached.set(oid, slice.last);
        this.#read += slice.rows.length;
        return slice;
      }
      this.#reached.set(oid, 'done');
      this.settle(this.#open[this.#open.push({ oid, upTo: 'done', rows: 0, settled: false }) - 1]!);
    }
    return undefined;
  }

  handOver({ plan, last, rows }: Slice): HandedOver {
    const part = { oid: plan.table.oid, upTo: last, rows: rows.length, settled: false };
    this.#open.push(part);
    return part;
  }

  settle(part: HandedOver): void {
    part.settled = true;
    while (this.#open[0]?.settled === true) {
      const { oid, upTo, rows } = this.#open.shift()!;
      this.#durable[oid] = upTo;
      this.#durableRows += rows;
    }
  }
}
