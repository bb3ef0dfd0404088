import type { MeasureText } from '../../../contracts/token-measure.js';
import { skipBlank } from '../white-space.js';
import type { Outline } from './outline.js';

export interface HeadingPrefix {
  readonly text: string;
  readonly tokens: number;
}

/** No more of a passage than this share goes to its prefix; outer titles give way first. */
const mostOfPassage = 4;
const none: HeadingPrefix = { text: '', tokens: 0 };

/**
 * Gives, for the start of a passage, the titles above it as one line (`Guide > Install`) and a blank one. The heading
 * that the passage itself begins with is left out.
 */
export function headingPrefixes(
  text: string,
  measure: MeasureText,
  outline: Outline,
  maxTokens: number,
): (start: number) => HeadingPrefix {
  const known = new Map<number, HeadingPrefix>();
  return (start) => {
    const block = outline.blockAt(start);
    const heading = outline.headingOf(block);
    const own = heading === block && heading >= 0 && skipBlank(text, outline.blocks[block]!.start) >= start;
    const above = own ? outline.parent(heading) : heading;
    let prefix = known.get(above);
    if (prefix === undefined) known.set(above, (prefix = render(above)));
    return prefix;
  };

  function render(heading: number): HeadingPrefix {
    for (let titles = outline.path(heading); titles.length > 0; titles = titles.slice(1)) {
      const line = `${titles.join(' > ')}\n\n`;
      const tokens = measure(line).tokens(0, line.length);
      if (tokens * mostOfPassage <= maxTokens) return { text: line, tokens };
    }
    return none;
  }
}
