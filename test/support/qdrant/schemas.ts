import { z } from 'zod';

/** The requests that are understood here, as the OpenAPI file of Qdrant 1.18 has them; anything else is refused. */
const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i)
  .transform((id) => id.toLowerCase());
/** Whole numbers beyond 2^53 are no longer themselves once JavaScript has read them. */
const id = z.union([uuid, z.int().min(0)]);
const json: z.ZodType<unknown> = z.json();
const payload = z.record(z.string(), json);
const number = z.number();

const range = z
  .strictObject({
    gt: z.union([number, z.iso.datetime({ offset: true })]).optional(),
    gte: z.union([number, z.iso.datetime({ offset: true })]).optional(),
    lt: z.union([number, z.iso.datetime({ offset: true })]).optional(),
    lte: z.union([number, z.iso.datetime({ offset: true })]).optional(),
  })
  .refine((bounds) => new Set(Object.values(bounds).map((bound) => typeof bound)).size === 1);

const match = z.union([
  z.strictObject({ value: z.union([z.string(), z.int(), z.boolean()]) }),
  z.strictObject({ any: z.union([z.array(z.string()), z.array(z.int())]) }),
]);

export interface FilterBody {
  readonly must?: readonly ConditionBody[] | undefined;
  readonly should?: readonly ConditionBody[] | undefined;
  readonly must_not?: readonly ConditionBody[] | undefined;
}

export type ConditionBody =
  | FilterBody
  | { readonly key: string; readonly match: z.infer<typeof match> }
  | { readonly key: string; readonly range: z.infer<typeof range> }
  | { readonly is_null: { readonly key: string } }
  | { readonly is_empty: { readonly key: string } }
  | { readonly has_id: readonly (string | number)[] }
  | { readonly has_vector: string };

const key = z.string().min(1);
const condition: z.ZodType<ConditionBody> = z.union([
  z.strictObject({ key, match }),
  z.strictObject({ key, range }),
  z.strictObject({ is_null: z.strictObject({ key }) }),
  z.strictObject({ is_empty: z.strictObject({ key }) }),
  z.strictObject({ has_id: z.array(id) }),
  z.strictObject({ has_vector: z.string() }),
  z.lazy(() => filter),
]);
const conditions = z.array(condition).optional();
const filter: z.ZodType<FilterBody> = z.strictObject({
  must: conditions,
  should: conditions,
  must_not: conditions,
});

const withPayload = z.union([z.boolean(), z.array(z.string())]).optional();
const withVector = z.union([z.boolean(), z.array(z.string())]).optional();

const sparse = z
  .strictObject({
    indices: z.array(
      z
        .int()
        .min(0)
        .max(2 ** 32 - 1),
    ),
    values: z.array(number),
  })
  .refine(
    ({ indices, values }) => indices.length === values.length && new Set(indices).size === indices.length,
  );

export const point = z.strictObject({
  id,
  vector: z.record(z.string(), z.union([z.array(number).min(1), sparse])),
  payload: payload.nullish(),
});

const threshold = z.strictObject({ indexing_threshold: z.int().min(0).nullish() });

export const bodies = {
  create: z.strictObject({
    vectors: z
      .record(
        z.string(),
        z.strictObject({
          size: z.int().min(1).max(65536),
          distance: z.enum(['Cosine', 'Dot', 'Euclid', 'Manhattan']),
        }),
      )
      .optional(),
    sparse_vectors: z.record(z.string(), z.strictObject({})).optional(),
    optimizers_config: threshold.optional(),
    hnsw_config: z.strictObject({ m: z.int().min(0), payload_m: z.int().min(0).optional() }).optional(),
    strict_mode_config: z.strictObject({ enabled: z.boolean() }).optional(),
  }),
  /** A collection of one vector without a name. */
  createUnnamed: z.strictObject({
    vectors: z.strictObject({ size: z.int().min(1), distance: z.enum(['Cosine', 'Dot']) }),
  }),
  change: z.strictObject({ optimizers_config: threshold }),
  aliases: z.strictObject({
    actions: z.array(
      z.union([
        z.strictObject({ delete_alias: z.strictObject({ alias_name: z.string().min(1) }) }),
        z.strictObject({
          create_alias: z.strictObject({
            alias_name: z.string().min(1).max(255),
            collection_name: z.string().min(1),
          }),
        }),
      ]),
    ),
  }),
  index: z.strictObject({
    field_name: z.string().min(1),
    field_schema: z.union([
      z.strictObject({ type: z.literal('keyword'), is_tenant: z.boolean().optional() }),
      z.strictObject({ type: z.literal('integer'), lookup: z.boolean(), range: z.boolean() }),
      z.strictObject({ type: z.enum(['uuid', 'bool', 'float']) }),
    ]),
  }),
  upsert: z.strictObject({
    points: z.array(point).min(1),
    update_filter: filter.optional(),
  }),
  retrieve: z.strictObject({ ids: z.array(id), with_payload: withPayload, with_vector: withVector }),
  scroll: z.strictObject({
    filter: filter.optional(),
    limit: z.int().min(1).optional(),
    offset: id.optional(),
    with_payload: withPayload,
    with_vector: withVector,
  }),
  count: z.strictObject({ filter: filter.optional(), exact: z.boolean().optional() }),
  query: z.strictObject({
    query: z.union([z.array(number).min(1), sparse, z.strictObject({ sample: z.literal('random') })]),
    using: z.string().optional(),
    filter: filter.optional(),
    limit: z.int().min(1).optional(),
    params: z.strictObject({ exact: z.boolean().optional() }).optional(),
    with_payload: withPayload,
    with_vector: withVector,
  }),
  batch: z.strictObject({
    operations: z.array(
      z.union([
        z.strictObject({ set_payload: z.strictObject({ payload, filter }) }),
        z.strictObject({ delete: z.strictObject({ filter }) }),
      ]),
    ),
  }),
} as const;

export type Body<Name extends keyof typeof bodies> = z.infer<(typeof bodies)[Name]>;
