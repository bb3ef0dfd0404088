import { writeFileSync } from 'node:fs';

export interface TensorSpec {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: ArrayBufferView;
}

/** The bytes of a safetensors file. `edit` may spoil its header. */
export function safetensorsBytes(
  tensors: Readonly<Record<string, TensorSpec>>,
  edit: (header: Record<string, Record<string, unknown>>) => void = () => undefined,
): Buffer {
  const header: Record<string, Record<string, unknown>> = { __metadata__: { format: 'np' } };
  const parts: Buffer[] = [];
  let offset = 0;
  for (const [name, { dtype, shape, data }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [offset, offset + data.byteLength] };
    parts.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    offset += data.byteLength;
  }
  edit(header);
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, ...parts]);
}

export function writeSafetensors(file: string, tensors: Readonly<Record<string, TensorSpec>>): void {
  writeFileSync(file, safetensorsBytes(tensors));
}
