import { z } from 'zod';
import type { Connector } from '../contracts/connector.js';
import type { EnrichBatch } from '../contracts/document-transform.js';
import { duration } from '../elements/duration.js';
import type { JoinFunction } from '../transforms/lookup/join-row.js';
import { templateFault } from '../transforms/lookup/template.js';

type Connectors = { readonly [name: string]: Connector };

const keyPath = z
  .string()
  .regex(/^[^.\s][^.]*(\.[^.]+)*$/, 'expected id, or a place in the metadata such as author or author.id')
  .describe(
    'What a document is looked up by: `id`, or a place in its metadata (`author`, `metadata.author.id`): a text, a number or a boolean.',
  );

const template = z
  .string()
  .superRefine((text, context) => {
    const message = templateFault(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .optional();

/** Options of look-ups only. */
const lookupOptions = {
  fields: z
    .union([z.literal('all'), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe('Fields of the row that are used: a list (dots reach into objects), or `all`. Default: all.'),
  join: z
    .union([
      z.enum(['left', 'right', 'nested']),
      z.custom<JoinFunction>((value) => typeof value === 'function', { error: 'expected a function' }),
    ])
    .optional()
    .describe(
      'Of fields that both have, `left` keeps the document’s and `right` takes the row’s; `nested` puts the row under the name `into`. Or, in a TypeScript configuration, a function of document and row that gives `{ metadata, text }`. Default: right.',
    ),
  into: z
    .string()
    .regex(/^[^.]+(\.[^.]+)*$/, 'expected a name; dots reach into objects')
    .optional()
    .describe('Name in the metadata that a `nested` row is put under.'),
  missing: z
    .union([z.enum(['skip', 'fail']), z.strictObject({ default: z.record(z.string(), z.json()) })])
    .optional()
    .describe(
      'A document without a row, or without a key: `skip` leaves it as it is, `fail` makes it a failed element, `{ default: {…} }` gives it this row. Default: skip.',
    ),
  template: template.describe(
    'New text of the document: `{text}` stands for its text, `{name}` for a field of the row, `{{` for a brace. For fields that shall be embedded.',
  ),
  metadata: z
    .boolean()
    .optional()
    .describe('Whether fields go into the metadata; with false only the template uses them. Default: true.'),
  timeout: duration.optional().describe('Longest time of one call, which is cut off then. Default: 10s.'),
  rps: z.int().min(1).max(100_000).optional().describe('Calls in any second. Default: no limit.'),
};

/** A step that adds to documents what a function gives, or what is looked up. */
export function enrichSchema(connectors: Connectors) {
  const lookups = lookupRoles(connectors);
  const names = Object.keys(lookups);
  return z
    .strictObject({
      name: z
        .string()
        .min(1)
        .optional()
        .describe(
          'What the step is called in messages and, of a function, in the chain. A look-up without one is called by its connector and key.',
        ),
      version: z
        .string()
        .default('1')
        .describe('Stands for the code of a function: raise it when the function gives other results.'),
      batch: z
        .custom<EnrichBatch>((value) => typeof value === 'function', { error: 'expected a function' })
        .optional()
        .describe(
          'Async function: documents in, one enrichment or Error each out. Only in a TypeScript configuration.',
        ),
      batchSize: z
        .int()
        .min(1)
        .max(10_000)
        .default(100)
        .describe('Documents, or different keys, of one call at most.'),
      concurrency: z.int().min(1).max(100).default(4).describe('Calls under way at once.'),
      refreshEvery: duration
        .optional()
        .describe(
          'While a run goes on: how often unchanged documents are enriched anew, for sources that can be read again (files, Postgres), or from what the sink keeps (`keepText`). A run over files begins with all of them anyway. Rows may still come from the cache.',
        ),
      ...lookups,
      ...lookupOptions,
      cache: cacheSchema(connectors).optional(),
    })
    .superRefine((step, context) => refuse(step, names, context))
    .describe('Adds metadata to each document, or gives it another text: by a function, or by a look-up.');
}

export type EnrichInput = z.output<ReturnType<typeof enrichSchema>>;

/** Settings of a connector that looks up, as far as the types know them. */
type LookupInput = z.ZodOptional<z.ZodType<LookupSettings, LookupSettings>>;
export type LookupSettings = { readonly key: string; readonly [setting: string]: unknown };

/** Rows by key, of every connector that can look up. */
function lookupRoles(connectors: Connectors): Readonly<Record<'postgres' | 'redis' | 'http', LookupInput>> {
  return Object.fromEntries(
    Object.entries(connectors).flatMap(([name, { lookup }]) =>
      lookup === undefined
        ? []
        : [
            [
              name,
              lookup.schema
                .safeExtend({ key: keyPath })
                .optional()
                .describe(lookup.schema.description ?? ''),
            ],
          ],
    ),
  ) as never;
}

function cacheSchema(connectors: Connectors) {
  const places = Object.entries(connectors).flatMap(([name, { cache }]) =>
    cache === undefined ? [] : [[name, cache.schema.optional()] as const],
  );
  return z
    .strictObject({
      ttl: duration.describe('How long a row is given out again, such as 1h.'),
      negativeTtl: duration
        .optional()
        .describe('The same for the news that there is no row; 0s: not at all. Default: a tenth of `ttl`.'),
      entries: z
        .int()
        .min(1)
        .max(10_000_000)
        .default(10_000)
        .describe('Rows kept in memory at most, where no other place is named.'),
      ...(Object.fromEntries(places) as unknown as Record<
        'redis',
        z.ZodOptional<z.ZodType<unknown, unknown>>
      >),
    })
    .superRefine((cache, context) => {
      const named = places.filter(([name]) => (cache as Record<string, unknown>)[name] !== undefined);
      if (named.length > 1)
        context.addIssue({ code: 'custom', message: 'Name one place, or none for memory.' });
    })
    .describe(
      'Keeps rows, in memory or in the place that it names. Its outage slows and never fails the pipeline.',
    );
}

interface Step {
  readonly name?: string | undefined;
  readonly batch?: unknown;
  readonly join?: unknown;
  readonly into?: unknown;
  readonly template?: unknown;
  readonly metadata?: boolean | undefined;
}

function refuse(step: Step, lookups: readonly string[], context: z.RefinementCtx): void {
  const given = step as Record<string, unknown>;
  const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  const named = lookups.filter((name) => given[name] !== undefined);
  if (named.length + (step.batch === undefined ? 0 : 1) !== 1)
    return issue(
      [],
      `Name one of ${['batch', ...lookups].join(', ')}, such as postgres: { url, query, key: author }.`,
    );
  if (step.batch !== undefined) {
    if (step.name === undefined)
      issue(['name'], 'is missing: the chain knows a function by its name and version');
    for (const option of [...Object.keys(lookupOptions), 'cache'])
      if (given[option] !== undefined) issue([option], 'is for look-ups; a function does this itself');
    return;
  }
  if (step.join === 'nested' && step.into === undefined)
    issue(['into'], 'is missing: the name that the row is put under');
  if (step.into !== undefined && step.join !== 'nested') issue(['into'], 'is for `join: nested`');
  if (typeof step.join === 'function')
    for (const option of ['template', 'metadata'])
      if (given[option] !== undefined) issue([option], 'is for rows that no function joins');
  if (step.metadata === false && step.template === undefined)
    issue(['template'], 'is missing: with `metadata: false` the fields would go nowhere');
}
