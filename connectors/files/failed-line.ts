import { z } from 'zod';
import { failedRecordSchema, versionSchema } from '../../src/elements/failed-record-schema.js';
import type { FailedKey } from '../../src/contracts/failed-store.js';

const key: z.ZodType<FailedKey> = z.object({ documentId: z.string(), version: versionSchema });

const line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('failed'), token: z.string(), record: failedRecordSchema }),
  z.object({ kind: z.literal('discarded'), token: z.string(), pipeline: z.string(), keys: z.array(key) }),
  /** Records whose last failure was before this time are over. */
  z.object({ kind: z.literal('expired'), token: z.string(), pipeline: z.string(), before: z.string() }),
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
