export interface EmbeddingsAnswer {
  readonly model: string;
  readonly vectors: readonly Float32Array[];
  readonly form: 'float' | 'base64';
  /** Tokens of all texts, special tokens excluded. */
  readonly tokens: number;
}

/** Body of the answer as OpenAI's API has it. base64 is of little-endian 32-bit floats, and far cheaper to write. */
export function embeddingsReply({ model, vectors, form, tokens }: EmbeddingsAnswer): string {
  const written = form === 'base64' ? base64 : numbers;
  const data = vectors.map(
    (vector, index) => `{"object":"embedding","index":${index},"embedding":${written(vector)}}`,
  );
  const usage = `{"prompt_tokens":${tokens},"total_tokens":${tokens}}`;
  return `{"object":"list","data":[${data.join(',')}],"model":${JSON.stringify(model)},"usage":${usage}}`;
}

function base64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return `"${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}"`;
}

/** The components were checked: each is a finite number. */
function numbers(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}
