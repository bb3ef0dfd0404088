import { z } from 'zod';
import { defaultKey, type RouteBy, type Routed } from './routing.js';

const modelName = z
  .string()
  .regex(
    /^(\*|[A-Za-z0-9][\w.-]{0,62})$/,
    'expected letters, digits, ".", "-" and "_", or "*" for the default',
  );

/** The keys of a step that may go to several models. @param model schema of one of them */
export function routedShape<Model extends z.ZodType>(model: Model) {
  return {
    route: z
      .union([
        z.string().regex(/^metadata(\.[^.]+)+$/, 'expected a place in the metadata, such as metadata.lang'),
        z.custom<Exclude<RouteBy, string>>((value) => typeof value === 'function'),
      ])
      .optional()
      .describe(
        'What gives a document its key among several models: a place in the metadata (`metadata.lang`) or, in a TypeScript configuration, a function of the document. Absent: every document has the key "*".',
      ),
    keys: z
      .record(z.string(), z.union([modelName, z.array(modelName).min(1)]))
      .optional()
      .describe(
        'For keys that are no model’s name: the model that they go to, or a list of models that a document goes through side by side.',
      ),
    models: z
      .record(modelName, model)
      .optional()
      .describe('Several models by name. A name is the key of its documents; "*" takes all other keys.'),
  };
}

interface RoutedInput<Model> {
  readonly route?: RouteBy | undefined;
  readonly keys?: { readonly [key: string]: string | readonly string[] } | undefined;
  readonly models?: { readonly [name: string]: Model } | undefined;
}

/** What is wrong between the keys of a routed step. @param single the one model, where no `models` are named */
export function refuseRouting(
  { route, keys, models }: RoutedInput<unknown>,
  single: boolean,
  context: z.RefinementCtx,
): void {
  const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
  if (models === undefined) {
    if (!single) refuse([], 'Name one model, or several under `models`.');
    for (const [name, value] of Object.entries({ route, keys }))
      if (value !== undefined) refuse([name], `is for several models: name them under \`models\``);
    return;
  }
  if (single) refuse(['models'], 'Name one model, or several under `models`, not both.');
  if (Object.keys(models).length === 0) refuse(['models'], 'must name at least one model');
  for (const [key, names] of Object.entries(keys ?? {}))
    for (const name of [names].flat())
      if (!Object.hasOwn(models, name))
        refuse(['keys', key], `names no model of \`models\`: ${JSON.stringify(name)}`);
  const takesAll = Object.hasOwn(models, defaultKey) || Object.hasOwn(keys ?? {}, defaultKey);
  if (route === undefined && !takesAll)
    refuse(
      ['route'],
      `is missing: without it every document has the key "${defaultKey}", which leads nowhere`,
    );
}

/** @param single the model, where no `models` are named */
export function routed<Model>(
  { route, keys = {}, models }: RoutedInput<Model>,
  single: Model,
): Routed<Model> {
  return {
    route,
    keys: Object.fromEntries(Object.entries(keys).map(([key, names]) => [key, [...new Set([names].flat())]])),
    models: models ?? { [defaultKey]: single },
  };
}
