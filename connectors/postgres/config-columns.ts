import { z } from 'zod';

/** What a column of a metadata field may hold, as Postgres names it. */
export const columnTypes = ['text', 'text[]', 'numeric', 'boolean', 'timestamptz'] as const;
export type ColumnType = (typeof columnTypes)[number];

/** The column of the tenant, where a pipeline has tenants. */
export const tenantColumn = 'tenant';

/** A metadata field as a column of the table of chunks. */
export interface FieldColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Of the field, names from the outside in. */
  readonly path: readonly string[];
  readonly index: boolean;
  /** What becomes of a document whose field holds something else: it fails, or the column stays empty. */
  readonly wrong: 'fail' | 'null';
}

/** What the table of chunks has itself, and what statements name. */
const taken =
  /^(pipeline|id|document_id|ordinal|start|end|tokens|hash|text|prefix|metadata|terms|embedding.*|ctid|xmin|xmax|cmin|cmax|tableoid|write|length|within|wanted|p[0-9]+)$/;

const path = z
  .string()
  .regex(/^(?!\.)(?!.*[^\\]\.\.)[^\0]+$/, 'expected names with dots between: author.name');

const type = z.enum(columnTypes);

const column = z.union([
  type,
  z.literal('drop'),
  z.strictObject({
    type,
    field: path
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
  .refine(
    ({ [tenantColumn]: tenant }) => tenant === undefined || tenant === 'drop',
    'tenant: this column is made by `tenant` of the sink; choose another name and say `field`',
  )
  .describe(
    `Metadata fields as columns of the table of chunks, beside the JSON: \`lang: text\` (${columnTypes.join(', ')}), or an object with \`type\` and \`field\`, \`index\`, \`wrong\`. Filters on these fields use them. A column that is not named any more stays and is kept up, until it is said to \`drop\`.`,
  )
  .default({});

export const tenantConfig = path
  .describe(
    'Metadata field (dots reach into objects) that says whose a document is: it becomes the indexed column `tenant`, a search of one tenant reads its chunks alone, and each question must name a tenant or ask for all. Tenants with as many chunks as `index` says have a vector index each, others are searched exactly.',
  )
  .optional();

export type ColumnsConfig = z.infer<typeof columnsConfig>;

export interface WantedColumns {
  readonly columns: readonly FieldColumn[];
  /** Names of those that shall go. */
  readonly dropped: readonly string[];
}

/** @param tenant the field of the tenant, if there is one */
export function wantedColumns(config: ColumnsConfig, tenant: string | undefined): WantedColumns {
  const columns: FieldColumn[] =
    tenant === undefined
      ? []
      : [{ name: tenantColumn, type: 'text', path: fieldPath(tenant), index: true, wrong: 'fail' }];
  const dropped: string[] = [];
  for (const [name, asked] of Object.entries(config)) {
    if (asked === 'drop') dropped.push(name);
    else if (typeof asked === 'string')
      columns.push({ name, type: asked, path: [name], index: false, wrong: 'fail' });
    else {
      const { field = name, type, index, wrong } = asked;
      columns.push({ name, type, path: fieldPath(field), index, wrong });
    }
  }
  return { columns, dropped };
}

/** As filters name fields. */
export function fieldPath(field: string): readonly string[] {
  return field.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
}
