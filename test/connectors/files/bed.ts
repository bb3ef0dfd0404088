import { readdir, readlink } from 'node:fs/promises';
import { filesSourceConfig } from '../../../connectors/files/config.js';
import { openFilesSource } from '../../../connectors/files/source.js';
import type { Notice } from '../../../src/contracts/context.js';
import type { PassComplete, Source, SourceContext } from '../../../src/contracts/source.js';
import type { SourceElement } from '../../../src/elements/document.js';
import { connectorContext } from '../../support/connector-context.js';
import { LedgerDouble } from '../../support/ledger-double.js';
import { VirtualClock } from '../../support/virtual-clock.js';

export interface OpenSource {
  readonly source: Source;
  readonly notices: Notice[];
}

/** A files source over a folder. @param options as they stand in a configuration */
export async function openSource(
  root: string,
  options: Record<string, unknown> = {},
  clock = new VirtualClock(),
): Promise<OpenSource> {
  const context = connectorContext('/', clock);
  const source = await openFilesSource(filesSourceConfig.parse({ root, ...options }), context);
  return { source, notices: context.notices };
}

export interface PassResult {
  readonly elements: SourceElement[];
  readonly completes: PassComplete[];
  readonly notices: Notice[];
  /** Elements by id: text, `deleted`, or the error's code in brackets. */
  readonly found: Record<string, string>;
}

/** Reads a folder once, to its end. @param parts of the context, or a function that gets the one it wraps */
export async function readOnce(
  root: string,
  options: Record<string, unknown> = {},
  parts: Partial<SourceContext> | ((given: SourceContext) => Partial<SourceContext>) = {},
): Promise<PassResult> {
  const { source, notices } = await openSource(root, options);
  const given = new LedgerDouble().context({ now: () => Date.now() });
  const context = { ...given, ...(typeof parts === 'function' ? parts(given) : parts) };
  const elements: SourceElement[] = [];
  const completes: PassComplete[] = [];
  for await (const delivery of source.deliveries(context))
    if (delivery.kind === 'complete') completes.push(delivery);
    else if (delivery.kind === 'elements') elements.push(...delivery.elements);
  return { elements, completes, notices, found: foundIn(elements) };
}

export function foundIn(elements: readonly SourceElement[]): Record<string, string> {
  return Object.fromEntries(
    elements.map((element) => {
      switch (element.kind) {
        case 'document':
          return [element.id, element.text];
        case 'deletion':
          return [element.id, 'deleted'];
        case 'unreadable':
          return [element.id, `[${element.error.code}]`];
        default:
          return element satisfies never;
      }
    }),
  );
}

/** Does something at the first call of `observe`, before or after the versions are given. */
export function atFirstObserve(
  when: 'before' | 'after',
  act: () => Promise<unknown>,
): (given: SourceContext) => Partial<SourceContext> {
  let done = false;
  return (given) => ({
    async observe(ids) {
      const first = !done;
      done = true;
      if (first && when === 'before') await act();
      const versions = await given.observe(ids);
      if (first && when === 'after') await act();
      return versions;
    },
  });
}

/** How many files and folders under a root this process holds open (Linux; elsewhere nobody can tell). */
export async function openUnder(root: string): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const targets = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return targets.filter((target) => target.startsWith(root)).length;
}
