import { basename, dirname } from 'node:path';
import type { Json } from '../../../elements/metadata.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import { toWire, type WireError } from '../../../errors/wire.js';
import type { Service } from '../../workers/service.js';
import type { TransformersOptions } from './options.js';
import { plainJson } from './plain-json.js';

export interface TransformersServiceOptions extends Pick<TransformersOptions, 'task' | 'dtype' | 'options'> {
  /** Absolute path of the model. */
  readonly folder: string;
  /** Where in it the ONNX files lie. */
  readonly subfolder: '' | 'onnx';
  /** Threads of each ONNX session inside one run; the runtime's own choice would be all of the host's cores. */
  readonly threads: number;
}

/** Answer of `run`, one an item. */
export type TransformersResult = { readonly value: Json } | { readonly error: WireError };

/** Service module of the `transformers` handler: one pipeline a worker, from local files alone. */
export async function create(options: TransformersServiceOptions): Promise<Service> {
  const { task, dtype, folder, subfolder, threads } = options;
  const { env, pipeline } = await importRuntime();
  env.allowRemoteModels = false;
  env.localModelPath = dirname(folder);
  const run = await open();

  async function open(): Promise<PipelineCall> {
    try {
      const settings = {
        dtype,
        subfolder,
        device: 'cpu',
        local_files_only: true,
        session_options: { intraOpNumThreads: threads, interOpNumThreads: 1 },
      } as const;
      return (await pipeline(task as never, basename(folder), settings)) as unknown as PipelineCall;
    } catch (cause) {
      throw new MillraceError('model_unsupported', `transformers.js cannot open ${folder} for ${task}`, {
        cause,
        hint: 'Look whether the task is one of transformers.js, and the model one for that task.',
      });
    }
  }

  /** Each alone: a task need not take several, and one that fails spoils no other. */
  async function one(item: Json): Promise<TransformersResult> {
    try {
      const given = Array.isArray(item) ? (item as Json[]) : [item];
      return { value: plainJson(await run(...given, options.options)) };
    } catch (cause) {
      return { error: toWire(new MillraceError('inference_failed', `The task ${task} failed`, { cause })) };
    }
  }

  return {
    methods: {
      async run(items: readonly Json[]) {
        const value: TransformersResult[] = [];
        for (const item of items) value.push(await one(item));
        return { value };
      },
    },
    close: () => run.dispose?.(),
  };
}

interface PipelineCall {
  (...given: readonly unknown[]): Promise<unknown>;
  dispose?(): Promise<void>;
}

async function importRuntime() {
  try {
    return await import('@xenova/transformers');
  } catch (cause) {
    throw new MillraceError(
      'runtime_missing',
      'The transformers handler needs the package @xenova/transformers',
      {
        cause,
        hint: 'Install it, or its continuation under that name: npm install @xenova/transformers@npm:@huggingface/transformers@4',
      },
    );
  }
}
