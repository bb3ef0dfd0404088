import { open, type FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { MillraceError } from '../../../errors/millrace-error.js';

/** Bytes of one value, by the format's name of its type. */
const typeBytes = { I8: 1, U8: 1, F16: 2, BF16: 2, I32: 4, F32: 4, I64: 8, F64: 8 } as const;
export type TensorType = keyof typeof typeBytes;

export interface Tensor {
  readonly type: TensorType;
  readonly shape: readonly number[];
  /** Little-endian, as in the file; shared between threads, and aligned for any type. */
  readonly data: SharedArrayBuffer;
}

const headerSchema = z.record(
  z.string(),
  z.looseObject({
    dtype: z.string(),
    shape: z.array(z.int().nonnegative()),
    data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
  }),
);

/** Above this a header is taken for garbage, as the reference implementation does. */
const longestHeader = 100_000_000;

/**
 * Reads tensors from a file of the format https://huggingface.co/docs/safetensors; names that it lacks are left out.
 * @throws MillraceError `model_not_found`; `model_corrupt` when the header, a size or a shape does not fit the file, also
 * for tensors that were not asked for; `model_unsupported` for a type of value that is not listed here
 */
export async function readSafetensors(
  file: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, Tensor>> {
  let handle: FileHandle;
  try {
    handle = await open(file);
  } catch (cause) {
    throw new MillraceError('model_not_found', `The weights ${file} cannot be read.`, { cause });
  }
  try {
    const { size } = await handle.stat();
    const headerBytes = size < 8 ? 0 : Number((await readAt(handle, file, 0, 8)).readBigUInt64LE());
    if (headerBytes < 2 || headerBytes > longestHeader || headerBytes > size - 8)
      throw corrupt(file, 'its header has no plausible length');
    const header = parseHeader(await readAt(handle, file, 8, headerBytes), file);
    checkLayout(header, size - 8 - headerBytes, file);
    const tensors = new Map<string, Tensor>();
    for (const name of names) {
      const entry = header[name];
      if (entry === undefined) continue;
      const type = entry.dtype;
      if (!isTensorType(type))
        throw new MillraceError(
          'model_unsupported',
          `${file} holds ${name} as ${type}, which is not supported.`,
        );
      const [from, to] = entry.data_offsets;
      if (entry.shape.reduce((product, size) => product * size, typeBytes[type]) !== to - from)
        throw corrupt(file, `the shape of ${name} does not fit its size`);
      const data = new SharedArrayBuffer(to - from);
      (await readAt(handle, file, 8 + headerBytes + from, to - from)).copy(new Uint8Array(data));
      tensors.set(name, { type, shape: entry.shape, data });
    }
    return tensors;
  } finally {
    await handle.close();
  }
}

type Header = z.infer<typeof headerSchema>;

function parseHeader(bytes: Buffer, file: string): Header {
  try {
    const { __metadata__: _, ...header } = JSON.parse(bytes.toString('utf8')) as Record<string, unknown>;
    return headerSchema.parse(header);
  } catch (cause) {
    throw corrupt(file, 'its header is not what the format says', cause);
  }
}

/** The tensors must lie one after the other and end where the file does: a file that was cut short shows here. */
function checkLayout(header: Header, dataBytes: number, file: string): void {
  const ranges = Object.values(header).map((entry) => entry.data_offsets);
  ranges.sort(([a], [b]) => a - b);
  let expected = 0;
  for (const [from, to] of ranges) {
    if (from !== expected || to < from) throw corrupt(file, 'its tensors overlap or leave gaps');
    expected = to;
  }
  if (expected !== dataBytes)
    throw corrupt(file, `it should hold ${expected} bytes of tensors and holds ${dataBytes}`);
}

async function readAt(handle: FileHandle, file: string, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  for (let done = 0; done < length;) {
    const { bytesRead } = await handle.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) throw corrupt(file, 'it ended while it was read');
    done += bytesRead;
  }
  return buffer;
}

function isTensorType(name: string): name is TensorType {
  return Object.hasOwn(typeBytes, name);
}

function corrupt(file: string, what: string, cause?: unknown): MillraceError {
  return new MillraceError('model_corrupt', `${file} is not a sound safetensors file: ${what}.`, {
    cause,
    hint: 'Fetch the model again.',
  });
}
