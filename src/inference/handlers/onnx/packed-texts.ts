import { idsReader, packIds, type PackedIds } from '../../tokenizer/packed-ids.js';

/** A text as itself, or as its ids without special tokens. */
export type TextOrIds = string | Int32Array;

/** Texts on their way to a worker: few objects, however many texts. */
export interface PackedTexts {
  /** A list a text, in their order; an empty one where the text itself is sent. */
  readonly packed: PackedIds;
  /** Alongside; undefined where the ids are sent. */
  readonly plain: readonly (string | undefined)[];
}

const none = new Int32Array(0);

export function packTexts(texts: readonly TextOrIds[]): PackedTexts {
  return {
    packed: packIds(texts.map((text) => (typeof text === 'string' ? none : text))),
    plain: texts.map((text) => (typeof text === 'string' ? text : undefined)),
  };
}

/** The ids of each, as views where they were sent. */
export function idsOfTexts(
  { packed, plain }: PackedTexts,
  idsOf: (text: string) => Int32Array,
): Int32Array[] {
  const next = idsReader(packed);
  return plain.map((text) => {
    const ids = next();
    return text === undefined ? ids : idsOf(text);
  });
}
