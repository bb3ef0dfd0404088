import { z } from 'zod';
import type { FailedKey, FailedRecord } from '../../src/contracts/failed-store.js';
import { errorCodes } from '../../src/errors/codes.js';
import type { Metadata } from '../../src/elements/metadata.js';
import type { Version } from '../../src/elements/version.js';

const version = z
  .string()
  .regex(/^[0-9a-f]{8}\.[0-9a-f]{16}\.[0-9a-f]{16}$/) as unknown as z.ZodType<Version>;

const record: z.ZodType<FailedRecord> = z.object({
  pipeline: z.string(),
  source: z.string(),
  documentId: z.string(),
  version,
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

const key: z.ZodType<FailedKey> = z.object({ documentId: z.string(), version });

const line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('failed'), token: z.string(), record }),
  z.object({ kind: z.literal('discarded'), token: z.string(), pipeline: z.string(), keys: z.array(key) }),
  /** Nothing that follows in this file counts: the next file goes on. */
  z.object({ kind: z.literal('sealed'), token: z.string() }),
]);

/** One line of the failed-element log. `token` is drawn for each append, so that its writer finds it again. */
export type FailedLine = z.output<typeof line>;

export function encodeFailedLine(value: FailedLine): string {
  return `${JSON.stringify(value)}\n`;
}

/** @returns nothing for bytes that are no such line: the rest of a write that was cut off */
export function decodeFailedLine(bytes: Buffer): FailedLine | undefined {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
  const parsed = line.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}
