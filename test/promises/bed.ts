import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { SqlConnection } from '../../connectors/postgres/connection.js';
import { openPgliteConnection } from '../../connectors/postgres/pglite-connection.js';
import { connectors } from '../../connectors/registry.js';
import { parsePipeline } from '../../src/config/parse.js';
import type { Connectors, PipelineInput } from '../../src/config/schema.js';
import type { Connector } from '../../src/contracts/connector.js';
import type { FailedRecord, FailedStore } from '../../src/contracts/failed-store.js';
import type { Delivery, Source } from '../../src/contracts/source.js';
import type { Store } from '../../src/contracts/store.js';
import { createDocument, type SourceElement } from '../../src/elements/document.js';
import type { Outcome } from '../../src/elements/outcome.js';
import { versionOf } from '../../src/elements/version.js';
import { Releasers } from '../../src/flow/releasers.js';
import { systemClock } from '../../src/flow/system-clock.js';
import type { RunEvent, RunSummary } from '../../src/observability/events.js';
import type { PipelineSpec } from '../../src/pipeline/spec.js';
import type { Retriever } from '../../src/retrieval/retriever.js';
import { openPipelineRetriever } from '../../src/runtime/open-retriever.js';
import { openFailedStore } from '../../src/runtime/open-parts.js';
import { replayFailed, type ReplaySummary } from '../../src/runtime/replay.js';
import { runPipeline, type RunOptions } from '../../src/runtime/run.js';
import { readFolder, type FolderContent } from '../support/folder-content.js';
import { temporaryFolder, writeFiles } from '../support/temporary-folder.js';

/** Wrappers around the real ports, to make them fail, wait or tell. */
export interface Faults {
  store?(store: Store): Store;
  failed?(failed: FailedStore): FailedStore;
}

export interface BedRun extends Partial<Omit<RunOptions, 'connectors' | 'onEvent'>> {
  readonly input?: Partial<PipelineInput>;
  readonly faults?: Faults;
  onEvent?(event: RunEvent): void;
}

/** A folder of documents, a PGlite store and a failed-element store, and runs of a real pipeline over them. */
export interface Bed {
  readonly folder: string;
  write(files: Record<string, string>): Promise<void>;
  remove(path: string): Promise<void>;
  spec(input?: Partial<PipelineInput>): PipelineSpec;
  run(options?: BedRun): Promise<RunSummary>;
  replay(options?: BedRun): Promise<ReplaySummary>;
  content(): Promise<FolderContent>;
  /** Texts of a document's chunks, in order. */
  texts(documentId: string): Promise<string[]>;
  failed(): Promise<FailedRecord[]>;
  retriever(input?: Partial<PipelineInput>): Promise<Retriever>;
}

/**
 * For a file of tests: one PGlite folder, owned by this process throughout, so that each run only joins it. Beds are
 * pipelines of their own in it.
 */
export function usePglite(): () => Promise<Bed> {
  let store: string;
  let owner: SqlConnection;
  let beds = 0;
  beforeAll(async () => {
    store = await mkdtemp(join(tmpdir(), 'millrace-bed-'));
    owner = openPgliteConnection(store, { clock: systemClock });
    await owner.create();
  }, 120_000);
  afterAll(async () => {
    await owner.close();
    await rm(store, { recursive: true });
  });
  return () => {
    beds += 1;
    return openBed(store, `bed${beds}`);
  };
}

async function openBed(store: string, name: string): Promise<Bed> {
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'docs/.keep': '' });
  const spec = (input: Partial<PipelineInput> = {}) =>
    parsePipeline(
      {
        name,
        source: { files: { root: 'docs' } },
        sink: { pglite: { path: store } },
        failed: { files: { path: 'failed' } },
        workers: 1,
        ...input,
      },
      { connectors, baseFolder: folder, cacheFolder: join(folder, 'models'), origin: 'the bed' },
    );
  const content = () => readFolder(store, name);
  return {
    folder,
    write: (files) => writeFiles(join(folder, 'docs'), files),
    remove: (path) => rm(join(folder, 'docs', path)),
    spec,
    run: ({ input, faults = {}, ...options } = {}) =>
      runPipeline(spec(input), { ...options, connectors: withFaults(faults) }),
    replay: ({ input, faults = {}, ...options } = {}) =>
      replayFailed(spec(input), {}, { ...options, connectors: withFaults(faults) }),
    content,
    texts: async (documentId) =>
      (await content()).chunks.filter((chunk) => chunk.documentId === documentId).map(({ text }) => text),
    failed: async () => {
      const releasers = new Releasers();
      const store = await openFailedStore(spec(), {
        connectors,
        clock: systemClock,
        report: () => undefined,
        releasers,
      });
      const records: FailedRecord[] = [];
      for await (const record of store.list()) records.push(record);
      await releasers.release();
      return records;
    },
    retriever: (input) => openPipelineRetriever(spec(input), { connectors }),
  };
}

/** The real connectors, with what they open wrapped. */
function withFaults(faults: Faults): Connectors {
  return Object.fromEntries(
    Object.entries<Connector>(connectors).map(([name, connector]) => {
      const { sink, failed } = connector;
      return [
        name,
        {
          ...connector,
          ...(sink && {
            sink: {
              ...sink,
              load: async () => {
                const open = await sink.load();
                return async (config: never, context: Parameters<typeof open>[1]) => {
                  const store = await open(config, context);
                  return faults.store?.(store) ?? store;
                };
              },
            },
          }),
          ...(failed && {
            failed: {
              ...failed,
              load: async () => {
                const open = await failed.load();
                return async (config: never, context: Parameters<typeof open>[1]) => {
                  const store = await open(config, context);
                  return faults.failed?.(store) ?? store;
                };
              },
            },
          }),
        },
      ];
    }),
  );
}

/** A log source that hands over what a test names, one delivery an entry, and remembers what was settled. */
export interface Log extends Source {
  /** By the place of the delivery; deliveries settle in any order. */
  readonly settled: Map<number, readonly Outcome[]>;
}

export function logOf(...deliveries: readonly (readonly SourceElement[])[]): Log {
  const settled = new Map<number, readonly Outcome[]>();
  return {
    name: 'log',
    settled,
    async *deliveries({ signal }): AsyncGenerator<Delivery> {
      for (const [index, elements] of deliveries.entries()) {
        if (signal.aborted) return;
        yield { kind: 'elements', elements, settle: async (outcomes) => void settled.set(index, outcomes) };
      }
    },
  };
}

export function version(position: number) {
  return versionOf(0, BigInt(position));
}

export function document(id: string, position: number, text: string): SourceElement {
  return createDocument({ id, text, version: version(position) });
}

export function deletion(id: string, position: number): SourceElement {
  return { kind: 'deletion', id, version: version(position) };
}

/** Kinds of all outcomes that were settled, in the order of the deliveries. */
export function outcomes({ settled }: Log): string[] {
  const inOrder = [...settled].sort(([a], [b]) => a - b);
  return inOrder.flatMap(([, outcomes]) => outcomes.map(({ kind }) => kind));
}

/** Paragraphs that become a chunk each: with `recursive: { maxTokens: 24 }` no two fit together. */
export function paragraphs(count: number, of = 'page'): string[] {
  return Array.from(
    { length: count },
    (_, n) =>
      `Paragraph ${n} of the ${of} tells about subject ${n}, in more words than half a chunk can hold.`,
  );
}

export const smallChunks: Partial<PipelineInput> = {
  chain: [{ chunk: { recursive: { maxTokens: 24 } } }, { embed: { static: { model: 'bundled' } } }],
};
