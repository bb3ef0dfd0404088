import type { PipelineInput } from '../../src/config/schema.js';
import type { FailedRecord } from '../../src/contracts/failed-store.js';
import { millrace, type Ended, type MillraceOptions } from '../support/millrace-process.js';
import { auditFindings } from './audit-findings.js';
import type { TortureDriver } from './driver.js';
import { fillReference } from './reference.js';
import { settleFailed, verify, type Verdict } from './verify.js';

export interface ReckoningInput {
  readonly driver: Pick<TortureDriver<never>, 'source' | 'audited' | 'expected' | 'mend'>;
  readonly url: string;
  readonly pipeline: string;
  /** The schema that went through the torture, and the configuration that filled it. */
  readonly schema: string;
  readonly config: string;
  readonly folder: string;
  /** A command that takes longer is ended. */
  readonly commandMs: number;
  say(line: string): void;
  /** What fills a schema undisturbed. */
  readonly undisturbed: { readonly schema: string; readonly input: PipelineInput };
}

export interface Reckoning extends Verdict {
  /** Commands that were run for it and did not end well. */
  readonly ended: readonly Ended[];
}

/**
 * Compares what the torture left with what must be there: documents and failed elements; then, where the chain can be
 * mended, once more after the failed elements were replayed; chunks, vectors and the audit at the end.
 */
export async function reckon(input: ReckoningInput): Promise<Reckoning> {
  const { driver, url, pipeline, schema, config, folder, undisturbed, say } = input;
  const limits = { limitMs: input.commandMs };
  const expect = async () => settleFailed(url, schema, pipeline, await driver.expected());
  const compare = async (reference?: string) =>
    verify({
      ...{ url, pipeline, schema, reference, expected: await expect() },
      failedRecords: await failedRecords(config, limits),
    });
  const before = driver.mend === undefined ? undefined : await compare();
  const ended: Ended[] = [];
  if (driver.mend !== undefined) {
    await driver.mend();
    say('replaying what failed');
    ended.push(await millrace(['failed', 'replay', config], limits));
  }
  say('filling another store undisturbed, and comparing');
  const expected = await expect();
  await fillReference(undisturbed.input, folder, driver.source, expected);
  const after = await compare(undisturbed.schema);
  if (driver.audited) say('the audit');
  const audited = driver.audited ? await auditFindings(config, expected, limits) : [];
  return {
    ...after,
    failed: before?.failed ?? after.failed,
    differences: [
      ...(before?.differences.map((line) => `${line}, before the replay`) ?? []),
      ...after.differences,
      ...audited,
    ],
    ended,
  };
}

async function failedRecords(config: string, limits: MillraceOptions): Promise<string[]> {
  const { code, stdout, stderr } = await millrace(['failed', 'list', config, '--json'], limits);
  if (code !== 0) throw new Error(stderr);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as FailedRecord).documentId);
}
