import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Notice } from '../../contracts/context.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { downloadFile } from './download-file.js';
import { hashFile } from './file-digest.js';
import { openHubCache } from './hub-cache.js';
import { openHubClient, type HubClient, type HubFile } from './hub-client.js';
import type { ModelFile, ModelFolder, SelectFiles } from './model-folder.js';

/** How far fetching a model is. */
export interface PullProgress {
  /** The hub id. */
  readonly model: string;
  /** The file under way. */
  readonly file: string;
  /** Bytes of all wanted files together. */
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface HubModelOptions {
  /** The hub's cache folder (`$HF_HOME/hub`): shared with Python tools. */
  readonly cacheFolder: string;
  /** @default 'https://huggingface.co' */
  readonly hubUrl?: string | undefined;
  readonly token?: string | undefined;
  /** Never asks the network. */
  readonly offline?: boolean | undefined;
  /** Asks the hub again what a branch stands for, instead of keeping to the commit that it was resolved to first. */
  readonly refresh?: boolean | undefined;
  onProgress?(progress: PullProgress): void;
  onNotice?(notice: Notice): void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A model of the hub, from the cache where it is whole, else fetched. A branch is resolved once: later calls keep to its
 * recorded commit, so that a model never changes unasked.
 * @throws MillraceError `model_not_found`, `model_corrupt`, `remote_unavailable`, `model_unsupported` from `select`
 */
export async function resolveHubModel(
  id: string,
  revision: string,
  select: SelectFiles,
  options: HubModelOptions,
): Promise<ModelFolder> {
  const { offline = false, hubUrl = 'https://huggingface.co', token, signal } = options;
  const cache = openHubCache(options.cacheFolder, id);
  let opened: Promise<HubClient> | undefined;
  const hub = () =>
    (opened ??= openHubClient({
      hubUrl: hubUrl.replace(/\/+$/, ''),
      ...(token === undefined ? {} : { token }),
    }));

  const commit = await findCommit();
  const files = await findFiles();
  const byPath = new Map(files.map((file) => [file.path, file]));
  const wanted = select([...byPath.keys()], id).map((path) => byPath.get(path)!);
  const bytesTotal = wanted.reduce((sum, file) => sum + file.bytes, 0);

  let bytesDone = 0;
  const found = new Map<string, ModelFile>();
  for (const file of wanted) {
    found.set(file.path, await haveFile(file));
    bytesDone += file.bytes;
    options.onProgress?.({ model: id, file: file.path, bytesDone, bytesTotal });
  }
  return { name: id, path: cache.snapshot(commit), revision: commit, files: found };

  async function findCommit(): Promise<string> {
    if (/^[0-9a-f]{40}$/.test(revision)) return revision;
    const known = options.refresh && !offline ? undefined : await cache.readRef(revision, 'own');
    if (known !== undefined) return known;
    if (offline) {
      const shared = await cache.readRef(revision, 'shared');
      if (shared !== undefined) return shared;
      throw notHere(`revision ${revision}`);
    }
    const commit = await (await hub()).commitOf(id, revision, signal);
    await cache.writeRef(revision, commit);
    options.onNotice?.({
      level: 'info',
      code: 'model_revision_resolved',
      message: `Model ${id} at ${revision} is commit ${commit}; write it as its revision to pin it.`,
    });
    return commit;
  }

  async function findFiles(): Promise<readonly HubFile[]> {
    const known = await cache.readFiles(commit);
    if (known !== undefined) return known;
    if (offline) {
      const made = await cache.snapshotFiles(commit);
      if (made.length === 0) throw notHere(`commit ${commit}`);
      return made;
    }
    const files = await (await hub()).files(id, commit, signal);
    await cache.writeFiles(commit, files);
    return files;
  }

  async function haveFile(file: HubFile): Promise<ModelFile> {
    const blob = cache.blob(file);
    let found = await checked(blob, file);
    if (found === 'altered') await setAside(blob, file);
    if (found === 'missing' && offline) throw notHere(`file ${file.path}`);
    if (found === 'missing' || found === 'altered') {
      const onBytes = (bytes: number) =>
        options.onProgress?.({ model: id, file: file.path, bytesDone: bytesDone + bytes, bytesTotal });
      found = await downloadFile({ hub: await hub(), id, commit, file, target: blob, signal, onBytes });
    }
    await cache.link(commit, file);
    return found;
  }

  /** The name of a blob is its digest: nothing else need be believed, whoever wrote it, and however it ended. */
  async function checked(blob: string, file: HubFile): Promise<ModelFile | 'missing' | 'altered'> {
    const there = await stat(blob).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (there === undefined) return 'missing';
    const { bytes, sha256, matches } = await hashFile(blob, file.digest, signal);
    return matches ? { bytes, sha256 } : 'altered';
  }

  async function setAside(blob: string, file: HubFile): Promise<void> {
    const path = join(cache.snapshot(commit), file.path);
    if (offline) {
      throw new MillraceError('model_corrupt', `${path} (${blob}) is truncated or altered`, {
        hint: 'Delete it and run once with the network on, or copy the model cache from a machine where it is whole.',
      });
    }
    await rm(`${blob}.corrupt`, { force: true });
    await rename(blob, `${blob}.corrupt`);
    options.onNotice?.({
      level: 'warn',
      code: 'model_file_replaced',
      message: `${path} was truncated or altered: it is kept as ${blob}.corrupt and fetched again.`,
    });
  }

  function notHere(what: string): MillraceError {
    return new MillraceError(
      'model_not_found',
      `The network is switched off and ${what} of model ${id} is not in ${cache.folder}`,
      { hint: `Fetch it once with the network on: millrace models pull ${id}` },
    );
  }
}
