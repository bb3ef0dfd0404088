import { z } from 'zod';
import type { Connector } from '../contracts/connector.js';
import { duration } from '../elements/duration.js';
import { embedSpec } from '../inference/model-spec.js';
import { chunkerSchema } from '../transforms/chunk/schema.js';
import { httpSchema } from './http-schema.js';
import { enrichSchema } from './enrich-schema.js';
import { sparseSchema } from '../transforms/terms/sparse-schema.js';
import { generationsSchema } from './generations-schema.js';
import { inferSchema } from './infer-schema.js';

/** Connectors by name. */
export type Connectors = { readonly [name: string]: Connector };

function stepSchema(connectors: Connectors) {
  return z.union([
    z.strictObject({ enrich: enrichSchema(connectors) }),
    z.strictObject({ infer: inferSchema }),
    z.strictObject({ chunk: chunkerSchema }),
    z.strictObject({ sparse: sparseSchema }),
    z.strictObject({ embed: embedSpec }),
  ]);
}

const limitsSchema = z.strictObject({
  elements: z
    .int()
    .min(1)
    .optional()
    .describe('Documents under way at once. Default: by workers and batch sizes, 512 to 4,096.'),
  bytes: z
    .int()
    .min(1)
    .optional()
    .describe('Bytes of text under way at once. Default: 2 MB a worker, at least 4 MB.'),
  maxItemBytes: z
    .int()
    .min(1)
    .default(32 * 1024 * 1024)
    .describe('A larger document is a failed element.'),
  maxChunks: z.int().min(1).default(20_000).describe('A document with more chunks is a failed element.'),
});

/** Where models come from: of pipelines and of servers. */
export const modelsSchema = z.strictObject({
  cacheFolder: z
    .string()
    .optional()
    .describe('Where models from the hub are kept. Default: the user’s cache folder.'),
  offline: z.boolean().default(false).describe('Never ask the hub: only models that are there already.'),
  hubUrl: z.url().optional().describe('Another hub than the public one.'),
  token: z
    .string()
    .optional()
    .describe('Access token for the hub. Take it from the environment: ${HF_TOKEN}.'),
  maxBytes: z
    .int()
    .min(1)
    .optional()
    .describe(
      'Bytes of weights, on all their workers, that may be loaded at once. Where a model has no room, those that nobody uses are closed; while it is refreshed, the old one first. Default: no limit.',
    ),
  maxLoaded: z.int().min(1).optional().describe('Models loaded at once. Default: no limit.'),
});

const allowedSchema = z.strictObject({
  model: z.string().min(1).describe('A folder or hub id.'),
  revision: z.string().min(1).optional().describe('Commit, branch or tag on the hub.'),
  replaces: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The model of the chain whose place it takes, as named there. Default: the one of the same name.',
    ),
  weights: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 as 64 hex characters')
    .optional()
    .describe('SHA-256 of its weights: another model under that name is refused.'),
});

function refreshSchema(connectors: Connectors) {
  return z.strictObject({
    watch: z
      .union([z.string().min(1), z.array(z.string().min(1))])
      .default([])
      .describe(
        'Models of the chain, as named there, that are exchanged when their folder, or their branch on the hub, changes.',
      ),
    everyMs: z
      .int()
      .min(10)
      .default(60_000)
      .describe('While watching: milliseconds from one look to the next.'),
    allow: z
      .array(allowedSchema)
      .default([])
      .describe('Models that an update may name beside those of the chain.'),
    events: role(connectors, 'updates').optional().describe('Where updates come from.'),
  });
}

/** What every command that goes on until it is stopped can be told. */
export const processSettings = {
  workers: z.int().min(1).max(256).optional().describe('Worker threads. Default: one a CPU.'),
  stopDeadlineMs: z
    .int()
    .min(0)
    .default(30_000)
    .describe('How long the first SIGTERM or SIGINT waits for what is under way.'),
};

/** The one schema of the configuration: it checks, fills in defaults, and gives JSON Schema and the reference page. */
export function pipelineSchema(connectors: Connectors) {
  return z.strictObject({
    name: z
      .string()
      .regex(
        /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/,
        'expected letters, digits, - and _, at most 63, beginning with a letter or digit',
      )
      .describe('Name of the pipeline: the key of its rows in the store.'),
    source: role(connectors, 'source').describe('Where documents come from.'),
    chain: z
      .array(stepSchema(connectors))
      .prefault([{ chunk: { markdown: {} } }, { embed: { static: { model: 'bundled' } } }])
      .describe(
        'What a document goes through: any number of enrich and infer steps, then chunk, then any number of infer steps, perhaps sparse, then embed.',
      ),
    sink: role(connectors, 'sink')
      .prefault({ pglite: {} })
      .describe('The store that is kept equal to the source.'),
    failed: role(connectors, 'failed', { retention })
      .prefault({ files: {} })
      .describe('Where failed elements, which hold text of documents, wait for people.'),
    limits: limitsSchema.prefault({}).describe('Bounds on memory and on single documents.'),
    models: modelsSchema.prefault({}).describe('Where models come from.'),
    refresh: refreshSchema(connectors)
      .optional()
      .describe(
        'Exchanges models while a run goes on: loaded beside the old one, tried, switched between two batches. A model whose vectors fill the store is exchanged only for one of the same space; for one of another space see `generations.onNewSpace`. Default: models stay as they were at the start.',
      ),
    generations: generationsSchema
      .prefault({})
      .describe('What happens when the model changes. For the stores pglite and postgres.'),
    http: httpSchema.optional(),
    ...processSettings,
  });
}

export type PipelineInput = z.input<ReturnType<typeof pipelineSchema>>;
export type PipelineOutput = z.output<ReturnType<typeof pipelineSchema>>;

const retention = duration
  .optional()
  .describe(
    'How long a failed element is kept after it last failed, such as 30d. Default: until it is discarded, replayed or superseded.',
  );

/** `{ files: {...} }`: exactly one of the connectors that can play this role. @param beside keys that all of them take */
function role(
  connectors: Connectors,
  name: 'source' | 'sink' | 'failed' | 'updates',
  beside: { readonly [key: string]: z.ZodType } = {},
) {
  const options = Object.entries(connectors).flatMap(([connector, roles]) => {
    const schema = roles[name]?.schema;
    return schema === undefined ? [] : [z.strictObject({ [connector]: schema, ...beside })];
  });
  return z.union(
    options as unknown as [
      z.ZodObject<Record<string, z.ZodType>>,
      ...z.ZodObject<Record<string, z.ZodType>>[],
    ],
  );
}
