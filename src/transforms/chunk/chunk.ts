import type { MeasureText } from '../../contracts/token-measure.js';
import { characterMeasure } from './character-measure.js';
import { splitMarkdown, type MarkdownOptions } from './markdown.js';
import type { Passage } from './passage.js';
import { splitRecursive, type RecursiveOptions } from './recursive.js';

/** A passage with its slice of the text. */
export interface TextPassage extends Passage {
  readonly text: string;
}

export interface ChunkOptions {
  /** What sizes are counted in. Default one token for every four UTF-16 code units. */
  readonly measure?: MeasureText | undefined;
}

/**
 * The chunkers for use alone. Each covers all of the text that is not blank with passages of at most `maxTokens`, whose
 * starts increase and whose cuts part no grapheme cluster.
 *
 * @throws {MillraceError} `config_invalid` for options that cannot be.
 */
export const chunk = {
  /** Splits Markdown at headings, else between blocks, else within a block. */
  markdown(
    text: string,
    { measure = characterMeasure(), ...options }: MarkdownOptions & ChunkOptions = {},
  ): TextPassage[] {
    return withText(text, splitMarkdown(text, measure, options));
  },
  /** Splits any text at the best break near the end of each full passage. */
  recursive(
    text: string,
    { measure = characterMeasure(), ...options }: RecursiveOptions & ChunkOptions = {},
  ): TextPassage[] {
    return withText(text, splitRecursive(text, measure, options));
  },
} as const;

function withText(text: string, passages: readonly Passage[]): TextPassage[] {
  return passages.map((passage) => ({ ...passage, text: text.slice(passage.start, passage.end) }));
}
