import { MillraceError } from '../../../errors/millrace-error.js';
import { unusable } from './post-json.js';

interface Item {
  readonly index?: unknown;
  readonly embedding?: unknown;
}

/**
 * The vectors of an answer in the order of the texts: by the index of each, or by position when no item has one and the
 * counts match. What is no number becomes NaN, never 0, and what is no vector an empty one: whoever checks the vectors
 * finds them.
 * @throws MillraceError `embedding_invalid` when not every text has exactly one vector; `remote_unavailable` for an
 * answer that is none of this API
 */
export function readEmbeddings(reply: unknown, texts: number, address: string): Float32Array[] {
  const data = (reply as { data?: unknown } | null)?.data;
  if (!Array.isArray(data)) throw unusable(address, 'JSON that holds no list of embeddings');
  const items = data as readonly (Item | null)[];
  if (items.length !== texts) throw mismatch(`gave ${items.length} vectors for ${texts} texts`);
  if (items.every((item) => item?.index === undefined || item.index === null)) return items.map(vectorOf);
  const vectors = new Array<Float32Array | undefined>(texts).fill(undefined);
  for (const item of items) {
    const index = item?.index;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= texts)
      throw mismatch(`gave the index ${JSON.stringify(index)} for one of ${texts} texts`);
    if (vectors[index] !== undefined) throw mismatch(`gave the index ${index} twice`);
    vectors[index] = vectorOf(item);
  }
  // As many different indexes as texts: none is missing.
  return vectors as Float32Array[];

  function mismatch(what: string): MillraceError {
    return new MillraceError('embedding_invalid', `${address} ${what}: nobody can tell which is whose.`);
  }
}

/** Servers give either form, whatever they were asked for. */
function vectorOf(item: Item | null): Float32Array {
  const embedding = item?.embedding;
  if (typeof embedding === 'string') return fromBase64(embedding);
  if (!Array.isArray(embedding)) return new Float32Array();
  const vector = new Float32Array(embedding.length);
  for (let at = 0; at < vector.length; at++) {
    const component: unknown = embedding[at];
    vector[at] = typeof component === 'number' ? component : NaN;
  }
  return vector;
}

/** Little-endian 32-bit floats. */
function fromBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % 4 !== 0) return new Float32Array();
  // Its own memory: small buffers are views of a pool that need not be aligned.
  return new Float32Array(Uint8Array.from(bytes).buffer);
}
