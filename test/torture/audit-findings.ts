import { millrace, type MillraceOptions } from '../support/millrace-process.js';
import type { Expected } from './log.js';

/** What `millrace audit` says that must not be so: it must name all that failed, and nothing else. */
export async function auditFindings(
  config: string,
  expected: ReadonlyMap<string, Expected>,
  options: MillraceOptions = {},
): Promise<string[]> {
  const { code, stdout, stderr } = await millrace(['audit', config, '--json'], options);
  if (stdout === '') throw new Error(stderr);
  const lines = stdout.split('\n').filter((line) => line !== '');
  const found = lines
    .map((line) => JSON.parse(line) as { readonly kind?: string; readonly documentId?: string })
    .filter(({ documentId }) => documentId !== undefined);
  const failed = new Set(found.filter(({ kind }) => kind === 'failed').map(({ documentId }) => documentId));
  const unnamed = [...expected].filter(([id, due]) => due.failed && !failed.has(id));
  return [
    ...found.flatMap(({ kind, documentId }) =>
      kind === 'failed' && expected.get(documentId!)?.failed === true
        ? []
        : [`${documentId}: ${kind} by the audit`],
    ),
    ...unnamed.map(([id]) => `${id}: not failed by the audit`),
    ...(code === 0 ? [] : [`: the audit ended with ${code}`]),
  ];
}
