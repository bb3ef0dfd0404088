import { z } from 'zod';
import type { Metadata } from './metadata.js';
import type { Version } from './version.js';
import { errorCodes } from '../errors/codes.js';
import type { FailedRecord } from './failed-record.js';

export const versionSchema = z
  .string()
  .regex(/^[0-9a-f]{8}\.[0-9a-f]{16}\.[0-9a-f]{16}$/) as unknown as z.ZodType<Version>;

/** A failed element as it is kept outside this process: what does not fit is damaged, or by another Millrace. */
export const failedRecordSchema: z.ZodType<FailedRecord> = z.object({
  pipeline: z.string(),
  source: z.string(),
  documentId: z.string(),
  version: versionSchema,
  element: z.object({
    kind: z.enum(['document', 'deletion', 'unreadable']),
    text: z.string().exactOptional(),
    metadata: (z.record(z.string(), z.json()) as unknown as z.ZodType<Metadata>).exactOptional(),
  }),
  stage: z.enum(['source', 'enrich', 'preprocess', 'infer', 'postprocess', 'chunk', 'embed', 'store']),
  error: z.object({
    code: z.enum(errorCodes),
    message: z.string(),
    hint: z.string().exactOptional(),
    causes: z.array(z.string()),
  }),
  attempts: z.number(),
  firstAt: z.string(),
  lastAt: z.string(),
  model: z.string().exactOptional(),
  route: z.string().exactOptional(),
});
