import type { RowPlan } from './row-plan.js';
import type { Tuple } from './tuple.js';

/** Shorter values never lie apart from their row, so the stream never leaves them out. */
const leastApart = 1_900;
const maxCharacters = 16 << 20;

/**
 * Rows of one transaction as they were after its last change of them. What the stream leaves out of a second change is
 * taken from here: nobody else sees the first one before the transaction ends.
 */
export class KnownRows {
  readonly #rows = new Map<string, Tuple['values']>();
  #characters = 0;

  /** Fills in what the row leaves out, from the row as it was or as it is known. */
  complete(plan: RowPlan, id: string, row: Tuple, old: Tuple | undefined): void {
    if (isComplete(plan, row)) return;
    const known = this.#rows.get(keyOf(plan, id));
    for (const at of plan.mapped) {
      if (row.values[at] !== undefined) continue;
      const value = known?.[at] ?? old?.values[at];
      if (typeof value !== 'string') continue;
      row.values[at] = value;
      row.bytes += Buffer.byteLength(value);
    }
  }

  keep(plan: RowPlan, id: string, { values, bytes }: Tuple): void {
    if (bytes < leastApart && this.#rows.size === 0) return;
    const key = keyOf(plan, id);
    this.#remove(key);
    if (bytes < leastApart) return;
    this.#rows.set(key, values);
    this.#characters += sizeOf(values);
    // What is forgotten is fetched once the transaction is visible.
    for (const [oldest] of this.#rows) {
      if (this.#characters <= maxCharacters) break;
      this.#remove(oldest);
    }
  }

  forget(plan: RowPlan, id: string): void {
    this.#remove(keyOf(plan, id));
  }

  clear(): void {
    this.#rows.clear();
    this.#characters = 0;
  }

  #remove(key: string): void {
    const values = this.#rows.get(key);
    if (values === undefined) return;
    this.#rows.delete(key);
    this.#characters -= sizeOf(values);
  }
}

/** The stream left out nothing that is mapped. */
export function isComplete({ mapped }: RowPlan, { values }: Tuple): boolean {
  for (const at of mapped) if (values[at] === undefined) return false;
  return true;
}

function keyOf({ table }: RowPlan, id: string): string {
  return `${table.oid}/${id}`;
}

function sizeOf(values: Tuple['values']): number {
  return values.reduce((sum, value) => sum + (value?.length ?? 0), 0);
}
