import type { HubModelOptions } from './models/hub-model.js';
import type { ModelFolder, SelectFiles } from './models/model-folder.js';
import { resolveModel } from './models/resolve-model.js';

export interface ModelFilesSpec {
  /** `bundled`, a folder, or a hub id. */
  readonly model: string;
  readonly revision?: string | undefined;
  /** Whose files are wanted. */
  readonly handler: 'onnx' | 'static';
  /** Which weights, for `onnx`. */
  readonly dtype?: 'fp32' | 'fp16' | 'int8';
}

/** Finds the files that a handler needs of a model, and fetches them where need be; loads nothing. */
export async function loadModelFiles(
  { model, revision, handler, dtype = 'fp32' }: ModelFilesSpec,
  options: HubModelOptions & { readonly baseFolder: string },
): Promise<ModelFolder> {
  return resolveModel(model, {
    ...options,
    revision,
    select: await selection(model === 'bundled' ? 'static' : handler, dtype),
  });
}

async function selection(handler: 'onnx' | 'static', dtype: 'fp32' | 'fp16' | 'int8'): Promise<SelectFiles> {
  switch (handler) {
    case 'static':
      return (await import('./handlers/static/model-files.js')).staticFiles;
    case 'onnx': {
      const { onnxFiles } = await import('./handlers/onnx/model-files.js');
      return (paths, model) => {
        const { graph, data, settings } = onnxFiles(paths, dtype, model);
        return [graph, ...data, ...settings];
      };
    }
    default:
      return handler satisfies never;
  }
}
