import type { Metadata } from '../../elements/metadata.js';

/** A slice of a text, as a chunker yields it: `text.slice(start, end)`. Offsets are UTF-16 code units. */
export interface Passage {
  readonly start: number;
  readonly end: number;
  /** Tokens of the slice under the chunker's measure, those of `prefix` included. */
  readonly tokens: number;
  /** Markdown only: titles of the headings that hold the start of the slice, outermost first; its own heading too. */
  readonly headings?: readonly string[] | undefined;
  /** Only with `headingPrefix`: what goes before the slice in the text that is embedded. */
  readonly prefix?: string | undefined;
  /** Of its chunk, where a step after the chunker has made them; else the document's with the headings. */
  readonly metadata?: Metadata | undefined;
}
