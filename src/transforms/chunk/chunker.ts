import type { MeasureText } from '../../contracts/token-measure.js';
import { splitMarkdown, type MarkdownOptions } from './markdown.js';
import type { Passage } from './passage.js';
import { splitRecursive, type RecursiveOptions } from './recursive.js';

/** Which chunker, with which options. Plain data, as long as its separators are: fit for a worker, a file, a digest. */
export type ChunkerSpec =
  | { readonly markdown: MarkdownOptions; readonly recursive?: never }
  | { readonly recursive: RecursiveOptions; readonly markdown?: never };

/** Splits a text into passages, in order; a blank text gives none. What is measured is the text and its heading prefixes. */
export type Splitter = (text: string, measure: MeasureText) => Passage[];

/** @throws {MillraceError} `config_invalid` at once when the options cannot be. */
export function createSplitter(spec: ChunkerSpec): Splitter {
  const splitter: Splitter =
    spec.markdown === undefined
      ? (text, measure) => splitRecursive(text, measure, spec.recursive)
      : (text, measure) => splitMarkdown(text, measure, spec.markdown);
  splitter('', noMeasure);
  return splitter;
}

/** For the trial on the empty text, which has nothing to measure. */
const noMeasure: MeasureText = () => ({ tokens: () => 0, fit: (_start, _budget, limit) => limit });
