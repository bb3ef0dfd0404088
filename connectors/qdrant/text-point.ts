import type { GivenContent } from '../../src/contracts/sink.js';
import type { Metadata } from '../../src/elements/metadata.js';
import type { PointKey, SizedPoint } from './chunk-points.js';
import type { Payload } from './port.js';

/** What a source gave of a document, as a point; the metadata as a JSON text, which keeps its form. */
export function textPointOf(
  { text, metadata }: GivenContent,
  { doc, writeId, seq, since }: PointKey & { readonly since: number },
): SizedPoint {
  const payload = {
    ...{ doc, write: writeId, seq, since, live: false },
    ...{ text, metadata: JSON.stringify(metadata) },
  };
  return {
    point: { id: writeId, vector: {}, payload },
    bytes: Buffer.byteLength(JSON.stringify(payload)) + 200,
  };
}

export function givenOf(payload: Payload): GivenContent {
  return {
    text: payload['text'] as string,
    metadata: JSON.parse(payload['metadata'] as string) as Metadata,
  };
}
