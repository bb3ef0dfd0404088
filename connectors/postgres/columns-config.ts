import { z } from 'zod';
import { columnTypes, type FieldColumn } from './field-column.js';

/** What the table of chunks has itself, and what statements name. */
const taken =
  /^(pipeline|id|document_id|ordinal|start|end|tokens|hash|text|prefix|metadata|terms|tenant|embedding.*|ctid|xmin|xmax|cmin|cmax|tableoid|write|length|within|wanted|p[0-9]+)$/;

const type = z.enum(columnTypes);

const column = z.union([
  type,
  z.literal('drop'),
  z.strictObject({
    type,
    field: z
      .string()
      .regex(/^(?!\.)(?!.*[^\\]\.\.)[^\0]+$/, 'expected names with dots between: author.name')
      .describe(
        'Metadata field that it holds; dots reach into objects, a dot within a name is written `\\.`. Default: its own name.',
      )
      .optional(),
    index: z.boolean().describe('Make an index of it: B-tree, GIN for a list.').default(false),
    wrong: z
      .enum(['fail', 'null'])
      .describe(
        'What becomes of a document whose field holds something else: `fail` makes it a failed element, `null` leaves the column empty.',
      )
      .default('fail'),
  }),
]);

export const columnsConfig = z
  .record(
    z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'expected small letters, digits and _, at most 63')
      .refine((name) => !taken.test(name), 'this name is taken: choose another and say `field`'),
    column,
  )
  .describe(
    `Metadata fields as columns of the table of chunks, beside the JSON: \`lang: text\` (${columnTypes.join(', ')}), or an object with \`type\` and \`field\`, \`index\`, \`wrong\`. Filters on these fields use them. A column that is not named any more stays and is kept up, until it is said to \`drop\`.`,
  )
  .default({});

export type ColumnsConfig = z.infer<typeof columnsConfig>;

export interface WantedColumns {
  readonly columns: readonly FieldColumn[];
  /** Names of those that shall go. */
  readonly dropped: readonly string[];
}

export function wantedColumns(config: ColumnsConfig): WantedColumns {
  const columns: FieldColumn[] = [];
  const dropped: string[] = [];
  for (const [name, asked] of Object.entries(config)) {
    if (asked === 'drop') dropped.push(name);
    else if (typeof asked === 'string')
      columns.push({ name, type: asked, path: [name], index: false, wrong: 'fail' });
    else {
      const { field = name, ...rest } = asked;
      columns.push({
        name,
        path: field.split(/(?<!\\)\./).map((part) => part.replaceAll('\\.', '.')),
        ...rest,
      });
    }
  }
  return { columns, dropped };
}
