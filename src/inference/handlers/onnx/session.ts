import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { MillraceError } from '../../../errors/millrace-error.js';
import { bufferFreer } from './free-buffer.js';
import { onnxRuntimeMissing } from './runtime-missing.js';
import type { Device } from './place.js';
import type { PaddedBatch } from './padded-batch.js';
import type { TokenVectors } from './pool-vectors.js';
import type { WeightsFile } from './weights-file.js';

/** A loaded graph that turns token ids into the output that is wanted of it. */
export interface OnnxSession {
  /** One at a time: the next run takes the memory of inputs and result away. Blocks the thread. @throws MillraceError `inference_failed`, `out_of_memory` */
  run(batch: PaddedBatch): Promise<TokenVectors>;
  close(): Promise<void>;
}

/** What a graph may ask for, and the value of each token for it: undefined where all are 0. */
const inputs = {
  input_ids: ({ ids }) => ids,
  attention_mask: ({ mask }) => mask,
  token_type_ids: () => undefined,
  position_ids: ({ ids, length }) => new Int32Array(ids.length).map((_, at) => at % length),
} as const satisfies Record<string, (batch: PaddedBatch) => Int32Array | undefined>;

function isKnown(name: string): name is keyof typeof inputs {
  return Object.hasOwn(inputs, name);
}

/** What is wanted of a graph: names that exporters give it, how many dimensions it has, and what to export a model for. */
export interface GraphOutput {
  readonly names: readonly string[];
  readonly dimensions: number;
  readonly task: string;
}

/** Token vectors, shape [batch, sequence, width]. */
export const tokenVectors: GraphOutput = {
  names: ['last_hidden_state', 'token_embeddings'],
  dimensions: 3,
  task: 'feature extraction',
};

/** One score a label, shape [batch, labels]. */
export const labelScores: GraphOutput = { names: ['logits'], dimensions: 2, task: 'text classification' };

export interface SessionOptions {
  /** Threads inside one run; never the runtime's own choice, which looks at the host's cores. */
  readonly threads: number;
  readonly device: Device;
  /** Which GPU, from 0. */
  readonly deviceIndex: number;
}

/**
 * Loads an ONNX file on a device.
 * @throws MillraceError `runtime_missing`, `device_unavailable`, `model_corrupt`, `model_unsupported`
 */
export async function openSession(
  file: Pick<WeightsFile, 'path' | 'shown'>,
  { threads, device, deviceIndex }: SessionOptions,
  wanted: GraphOutput = tokenVectors,
): Promise<OnnxSession> {
  const { InferenceSession, Tensor } = await importRuntime();
  let session: InferenceSession;
  try {
    session = await InferenceSession.create(file.path, {
      executionProviders: [providers[device](deviceIndex)],
      graphOptimizationLevel: 'all',
      executionMode: 'sequential',
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: 4,
    });
  } catch (cause) {
    // Which of the two it was, the runtime says only in prose; a file that the CPU cannot load either shows there.
    if (device !== 'cpu') throw unavailable(device, deviceIndex, cause);
    throw new MillraceError('model_corrupt', `onnxruntime cannot load ${file.shown}`, {
      cause,
      hint: 'The file is damaged, lacks its external data, or uses operators of a newer runtime: fetch or export it again.',
    });
  }

  let graph: ReturnType<typeof readGraph>;
  try {
    graph = readGraph(session);
  } catch (error) {
    await session.release();
    throw error;
  }
  const { asked, output } = graph;
  const free = bufferFreer();
  /** Of the last run. */
  let last: ArrayBuffer | undefined;
  const wide = Object.fromEntries(asked.map(({ name }) => [name, new WideInput()])) as {
    readonly [name in keyof typeof inputs]: WideInput;
  };

  return {
    async run(batch) {
      const shape = [batch.rows, batch.length];
      let result: Tensor | undefined;
      if (last !== undefined) free(last);
      last = undefined;
      try {
        const feeds = asked.map(({ name, type, value }) => {
          const values = value(batch);
          const count = batch.ids.length;
          const tensor =
            type === 'int32'
              ? new Tensor(type, values ?? new Int32Array(count), shape)
              : new Tensor(type, wide[name].take(count, values), shape);
          return [name, tensor] as const;
        });
        result = (await session.run(Object.fromEntries(feeds), [output]))[output];
      } catch (cause) {
        throw failed(batch, cause);
      }
      if (result?.type !== 'float32' || result.dims.length !== wanted.dimensions) {
        throw unsupported(`its output ${output} as ${result?.type} of ${result?.dims.length} dimensions`);
      }
      const data = result.data as Float32Array<ArrayBuffer>;
      last = data.buffer;
      return { data, width: result.dims.at(-1)! };
    },
    close: () => session.release(),
  };

  function readGraph({ inputMetadata, outputNames }: InferenceSession) {
    const asked = inputMetadata.map((input) => {
      if (!isKnown(input.name)) throw unsupported(`the input ${input.name}`);
      if (!input.isTensor || (input.type !== 'int64' && input.type !== 'int32')) {
        throw unsupported(`the input ${input.name} in another type than int64 or int32`);
      }
      return { name: input.name, type: input.type, value: inputs[input.name] };
    });
    const output = wanted.names.find((name) => outputNames.includes(name));
    if (output === undefined) throw unsupported(`no output ${wanted.names.join(' or ')}`);
    return { asked, output };
  }

  function unsupported(what: string): MillraceError {
    return new MillraceError('model_unsupported', `The graph ${file} has ${what}`, {
      hint: `Export the model for ${wanted.task}: its inputs are input_ids, attention_mask and at most token_type_ids and position_ids, its output ${wanted.names[0]} in float32.`,
    });
  }
}

const providers = {
  cpu: () => 'cpu' as const,
  cuda: (deviceId: number) => ({ name: 'cuda' as const, deviceId }),
  webgpu: (deviceId: number) => ({ name: 'webgpu' as const, deviceId }),
} satisfies Record<Device, (index: number) => InferenceSession.ExecutionProviderConfig>;

const deviceHints = {
  cuda: 'It needs an NVIDIA driver, CUDA 12 with cuDNN 9, and the CUDA libraries of onnxruntime-node: the README says how to get them.',
  webgpu: 'It needs a graphics driver with Vulkan (libvulkan) on Linux.',
};

function unavailable(device: keyof typeof deviceHints, index: number, cause: unknown): MillraceError {
  return new MillraceError('device_unavailable', `onnxruntime cannot run the model on ${device} ${index}`, {
    cause,
    hint: `${deviceHints[device]} To run without it: device: [${device}, cpu], or leave device out.`,
  });
}

async function importRuntime() {
  try {
    const runtime = await import('onnxruntime-node');
    // What it would print is thrown as well.
    runtime.env.logLevel = 'fatal';
    return runtime;
  } catch (cause) {
    throw onnxRuntimeMissing(cause);
  }
}

/** Memory for an input of 64-bit integers, used again by each run. */
class WideInput {
  #numbers = new BigInt64Array(0);
  #halves = new Int32Array(0);

  /** @param values never negative, so that the low half holds them; undefined for zeros, always or never */
  take(count: number, values: Int32Array | undefined): BigInt64Array {
    if (this.#numbers.length < count) {
      this.#numbers = new BigInt64Array(count);
      this.#halves = new Int32Array(this.#numbers.buffer);
    }
    if (values !== undefined) for (let at = 0; at < count; at++) this.#halves[2 * at] = values[at]!;
    return this.#numbers.subarray(0, count);
  }
}

function failed({ rows, length }: PaddedBatch, cause: unknown): MillraceError {
  const what = `onnxruntime failed on ${rows} texts of ${length} tokens`;
  // The one structured sign there is: an array that could not be made. The runtime itself gives only prose.
  if (cause instanceof RangeError) {
    return new MillraceError('out_of_memory', what, { cause, hint: 'Make the batches smaller.' });
  }
  return new MillraceError('inference_failed', what, { cause });
}
