import { opendir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConnectorContext, Notice } from '../../src/contracts/context.js';
import type { Delivery, Source, SourceContext, SourceFactory } from '../../src/contracts/source.js';
import type { FilesSourceConfig } from './config.js';
import { folderAt } from './folder.js';
import { compileGlobs } from './globs.js';
import { KnownFiles } from './known-files.js';
import { rootUnavailable } from './list.js';
import { measureFolder } from './measure.js';
import { readPass } from './pass.js';
import type { Reader, ReadReport } from './reader.js';
import { watchFolder } from './watch.js';

/** Documents from a folder. @throws MillraceError `source_unavailable` when the folder cannot be listed */
export const openFilesSource: SourceFactory<FilesSourceConfig> = async (config, connector) => {
  const root = resolve(connector.baseFolder, config.root);
  try {
    await (await opendir(root)).close();
  } catch (error) {
    throw rootUnavailable(root, error);
  }
  const source: Source = {
    name: config.name,
    rereads: true,
    deliveries: (context) => deliveries(config, root, connector, context),
  };
  return source;
};

async function* deliveries(
  config: FilesSourceConfig,
  root: string,
  { clock, notify }: ConnectorContext,
  context: SourceContext,
): AsyncGenerator<Delivery> {
  const folder = folderAt(root, compileGlobs(config.include, config.exclude), config.followSymlinks);
  const known = new KnownFiles();
  const spared = new Set<string>();
  const told = new Set<string>();
  const released = new AbortController();
  let total: number | undefined;
  let handed = 0;
  let measuring: Promise<void> | undefined;
  const report: ReadReport = {
    spare: (prefix) => spared.add(prefix),
    notify: (notice: Notice) => {
      // Every look around meets the same obstacles again.
      if (told.has(notice.message)) return;
      told.add(notice.message);
      notify(notice);
    },
    handedOver(path, look, state) {
      if (context.watch) known.handedOver(path, look, state);
    },
    stale: (path) => known.stale(path),
    advance: (bytes) => (handed += bytes),
    progress: () => (total === undefined || total === 0 ? undefined : Math.min(1, handed / total)),
  };
  const reader: Reader = { folder, fields: config.jsonl, context, clock, report };
  try {
    measuring = measureFolder(folder, AbortSignal.any([context.signal, released.signal])).then(
      (bytes) => {
        if (!released.signal.aborted) total = bytes;
      },
      () => undefined,
    );
    yield* readPass(reader, spared);
    // From now on there is no whole of which something could be a share.
    released.abort();
    total = undefined;
    if (context.watch) yield* watchFolder(reader, known, spared, config.pollMs);
  } finally {
    released.abort();
    await measuring;
  }
}
