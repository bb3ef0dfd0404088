import { z } from 'zod';
import { localModelSpec } from '../inference/model-spec.js';
import { listenSettings, portSetting } from './http-schema.js';
import { modelsSchema, processSettings } from './schema.js';

/** The schema of what `millrace serve` reads. */
export const serveSchema = z.strictObject({
  serve: z
    .record(z.string().min(1), localModelSpec)
    .refine((models) => Object.keys(models).length > 0, 'name at least one model')
    .describe('Models by the name that clients ask for, each with its handler.'),
  ...listenSettings,
  port: portSetting(8080),
  queue: z
    .strictObject({
      texts: z.int().min(1).default(20_000).describe('Texts that are held at once.'),
      bytes: z
        .int()
        .min(1)
        .default(256 * 1024 * 1024)
        .describe('Bytes of requests that are held at once.'),
    })
    .prefault({})
    .describe('A request over it is answered 429 with Retry-After.'),
  request: z
    .strictObject({
      texts: z.int().min(1).default(2_048).describe('Texts of one request at most.'),
      bytes: z
        .int()
        .min(1_024)
        .default(16 * 1024 * 1024)
        .describe('Bytes of one request at most; a larger one is answered 413.'),
    })
    .prefault({})
    .describe('What one request may hold.'),
  models: modelsSchema.prefault({}).describe('Where models come from.'),
  ...processSettings,
});

export type ServeInput = z.input<typeof serveSchema>;
