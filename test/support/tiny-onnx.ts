/** A graph whose token vectors are rows of a table: small enough to be written by hand, real enough to be run. */
export interface TinyGraph {
  /** Shape [vocabulary, width]. */
  readonly table: readonly (readonly number[])[];
  /** @default int64 `input_ids` and `attention_mask` */
  readonly inputs?: readonly { readonly name: string; readonly type: 'int64' | 'int32' | 'float32' }[];
  /** @default 'last_hidden_state' */
  readonly output?: string;
  /** The output is the mean over the tokens, padding included, shape [batch, width]: scores of a classifier. */
  readonly mean?: boolean;
}

const elementTypes = { float32: 1, int32: 6, int64: 7 } as const;

/** Writes the graph as an ONNX file (protobuf; field numbers from onnx.proto3). */
export function tinyOnnx({ table, inputs, output = 'last_hidden_state', mean = false }: TinyGraph): Buffer {
  const width = table[0]!.length;
  const asked = inputs ?? [
    { name: 'input_ids', type: 'int64' as const },
    { name: 'attention_mask', type: 'int64' as const },
  ];
  const gathered = mean ? 'tokens' : output;
  const nodes = [message([text(1, 'table'), text(1, asked[0]!.name), text(2, gathered), text(4, 'Gather')])];
  if (mean) {
    const axes = message([text(1, 'axes'), number(8, 1), number(20, 7)]);
    const keep = message([text(1, 'keepdims'), number(3, 0), number(20, 2)]);
    nodes.push(
      message([text(1, gathered), text(2, output), text(4, 'ReduceMean'), bytes(5, axes), bytes(5, keep)]),
    );
  }
  const initializer = message([
    number(1, table.length),
    number(1, width),
    number(2, elementTypes.float32),
    text(8, 'table'),
    bytes(9, Buffer.from(Float32Array.from(table.flat()).buffer)),
  ]);
  const graph = message([
    ...nodes.map((node) => bytes(1, node)),
    text(2, 'tiny'),
    bytes(5, initializer),
    ...asked.map(({ name, type }) => bytes(11, value(name, type, ['batch', 'sequence']))),
    bytes(12, value(output, 'float32', mean ? ['batch', width] : ['batch', 'sequence', width])),
  ]);
  return message([number(1, 8), bytes(7, graph), bytes(8, message([text(1, ''), number(2, 13)]))]);
}

function value(name: string, type: keyof typeof elementTypes, dims: readonly (string | number)[]): Buffer {
  const shape = dims.map((dim) =>
    bytes(1, message([typeof dim === 'string' ? text(2, dim) : number(1, dim)])),
  );
  const tensor = message([number(1, elementTypes[type]), bytes(2, message(shape))]);
  return message([text(1, name), bytes(2, message([bytes(1, tensor)]))]);
}

function message(fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([varint(field << 3), varint(value)]);
}

function text(field: number, value: string): Buffer {
  return bytes(field, Buffer.from(value));
}

function bytes(field: number, value: Buffer): Buffer {
  return Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const digits: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...digits, rest]);
    digits.push((rest % 128) | 128);
  }
}
