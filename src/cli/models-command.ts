import cliProgress from 'cli-progress';
import { loadModelFiles } from '../inference/load-model-files.js';
import { listModels } from '../inference/models/list-models.js';
import { bundledFolder } from '../inference/models/resolve-model.js';
import { verifyModel, type FileCheck } from '../inference/models/verify-model.js';
import type { ModelFolder } from '../inference/models/model-folder.js';
import type { Command, CommandContext } from './command.js';
import { exitCode } from './exit-code.js';

export interface ModelFlags {
  readonly revision?: string;
  readonly handler: 'onnx' | 'static';
  readonly hubUrl?: string;
}

/** `millrace models list`: the bundled model and those in the hub's cache. */
export const modelsListCommand: Command<[]> = async ({ output, cacheFolder }) => {
  const cached = await listModels(cacheFolder);
  output.data({ name: 'bundled', path: bundledFolder() });
  output.line(`bundled  ${bundledFolder()}`);
  for (const model of cached) {
    output.data(model);
    output.line(`${model.name}@${model.revision.slice(0, 12)}  ${megabytes(model.bytes)}  ${model.path}`);
  }
  if (cached.length === 0) output.note(`no models in ${cacheFolder}`);
  return exitCode.ok;
};

/** `millrace models pull`: fetches the files that a handler needs, and names the commit to pin. */
export const modelsPullCommand: Command<[model: string, flags: ModelFlags]> = async (
  context,
  model,
  flags,
) => {
  const folder = await fetchModel(context, model, flags);
  context.output.data({ name: folder.name, revision: folder.revision, path: folder.path });
  context.output.line(`${folder.name}  ${folder.path}`);
  if (folder.revision !== undefined) context.output.line(`pin it with  revision: ${folder.revision}`);
  return exitCode.ok;
};

/** `millrace models verify`: hashes the files of a model, or of all that are here. */
export const modelsVerifyCommand: Command<[model: string | undefined, flags: ModelFlags]> = async (
  context,
  model,
  flags,
) => {
  const folders =
    model === undefined
      ? [{ name: 'bundled', path: bundledFolder() }, ...(await listModels(context.cacheFolder))]
      : [await fetchModel(context, model, flags)];
  let sound = true;
  for (const { name, path } of folders) {
    const files = await verifyModel(path);
    context.output.data({ name, path, files });
    context.output.line(`${name}: ${verdict(files)}`);
    for (const file of files.filter(isBad)) context.output.problem(`  ${file.path}: ${file.state}`);
    sound &&= !files.some(isBad);
  }
  return sound ? exitCode.ok : exitCode.fault;
};

async function fetchModel(
  { output, cacheFolder, env }: CommandContext,
  model: string,
  { revision, handler, hubUrl }: ModelFlags,
): Promise<ModelFolder> {
  const bar = process.stderr.isTTY
    ? new cliProgress.SingleBar({
        format: '{bar} {percentage}% of {size} | {file} | ETA {eta_formatted}',
        stream: process.stderr,
        clearOnComplete: true,
      })
    : undefined;
  let started = false;
  try {
    return await loadModelFiles(
      { model, revision, handler },
      {
        baseFolder: process.cwd(),
        cacheFolder,
        hubUrl,
        token: env['HF_TOKEN'],
        onNotice: ({ message }) => output.note(message),
        onProgress: ({ file, bytesDone, bytesTotal }) => {
          const payload = { file, size: megabytes(bytesTotal) };
          if (started) bar?.update(bytesDone, payload);
          else bar?.start(bytesTotal, bytesDone, payload);
          started = true;
        },
      },
    );
  } finally {
    bar?.stop();
  }
}

function isBad({ state }: FileCheck): boolean {
  return state === 'altered' || state === 'missing';
}

function verdict(files: readonly FileCheck[]): string {
  const count = (state: FileCheck['state']) => files.filter((file) => file.state === state).length;
  const parts = (['intact', 'altered', 'missing', 'unchecked'] as const).filter((state) => count(state) > 0);
  return parts.length === 0 ? 'no files' : `${parts.map((state) => `${count(state)} ${state}`).join(', ')}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
