import { quote } from './publication.js';
import type { RowPlan } from './row-plan.js';

/** Parts of a statement that reads columns of a table called `t`, without ever reading a text that is too large. */
export interface RowSelection {
  /** The columns, in the order of the places. */
  readonly list: string;
  /** Bytes of the texts among them, also of those that are left out. Costs no look at texts that lie apart. */
  readonly size: string;
}

export function selectRow(
  { columns, types }: RowPlan,
  places: readonly number[],
  maxItemBytes: number,
): RowSelection {
  const name = (at: number) => `t.${quote(columns[at]!)}`;
  const isText = (at: number) => types[at]!.family === 'text';
  const texts = places.filter(isText);
  return {
    list: places
      .map((at) =>
        isText(at)
          ? `case when octet_length(${name(at)}) <= ${maxItemBytes} then ${name(at)} end as c${at}`
          : `${name(at)} as c${at}`,
      )
      .join(', '),
    size: texts.length === 0 ? '0' : texts.map((at) => `coalesce(octet_length(${name(at)}), 0)`).join(' + '),
  };
}
