import { z } from 'zod';
import { onnxOptions } from './handlers/onnx/options.js';
import { openAiOptions } from './handlers/openai/options.js';
import { staticOptions } from './handlers/static/options.js';
import { nameOneHandler } from './name-one-handler.js';
import type { OwnEmbedding } from './own-embedding.js';
import { refuseRouting, routed, routedShape } from './routed-spec.js';
import type { Routed } from './routing.js';

const localHandlers = {
  static: staticOptions
    .optional()
    .describe('Averages token vectors: some 100 times faster than a transformer, and less exact.'),
  onnx: onnxOptions.optional().describe('Runs a sentence-transformers model by ONNX Runtime.'),
};

const handlers = {
  ...localHandlers,
  openai: openAiOptions
    .optional()
    .describe('Asks an OpenAI-compatible API: OpenAI, a local server, or `millrace serve`.'),
  own: z
    .custom<OwnEmbedding>(
      (value) =>
        typeof value === 'object' && value !== null && 'load' in value && typeof value.load === 'function',
      { error: 'expected { load } (docs/handlers.md)' },
    )
    .optional()
    .describe('A model of one’s own: { load }. Only in a TypeScript configuration.'),
};

const example = 'static: { model: bundled }';

/** A model as the configuration names it: one handler with its options. */
export const modelSpec = z.strictObject(handlers).superRefine(nameOneHandler(Object.keys(handlers), example));

/** A model that runs in this process. */
export const localModelSpec = z
  .strictObject(localHandlers)
  .superRefine(nameOneHandler(Object.keys(localHandlers), example));

export type ModelSpec = z.infer<typeof modelSpec>;

const names = Object.keys(handlers) as (keyof typeof handlers)[];

/** The models of an `embed` step: one, or several with a route among them. */
export const embedSpec = z
  .strictObject({
    ...handlers,
    ...routedShape(modelSpec),
    version: z
      .string()
      .default('1')
      .describe('Stands for the code of a route function: raise it when it gives other keys.'),
  })
  .superRefine((step, context) => {
    const single = names.some((name) => step[name] !== undefined);
    refuseRouting(step, single, context);
    if (single) nameOneHandler(names, 'static: { model: bundled }')(step, context);
  });

/** What it comes to: the models by name, with the way among them. */
export function embedRoutes(step: z.output<typeof embedSpec>): EmbedSpec {
  const { route, keys, models, version, ...single } = step;
  return { ...routed({ route, keys, models }, single), version };
}

export interface EmbedSpec extends Routed<ModelSpec> {
  readonly version: string;
}
