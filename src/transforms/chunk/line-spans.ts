/** The lines that a slice of a text lies on, counted from 1. */
export interface LineSpan {
  readonly first: number;
  readonly last: number;
}

/**
 * The lines of slices whose starts never go down, in one pass over the text and the slices. LF, CR and CR LF end a
 * line; the end of the last one opens no further line.
 */
export function lineSpans(
  text: string,
  slices: readonly { readonly start: number; readonly end: number }[],
): LineSpan[] {
  let line = 1;
  let at = 0;
  return slices.map(({ start, end }) => {
    line += lineEnds(text, at, start);
    at = start;
    return { first: line, last: line + lineEnds(text, start, Math.max(start, end - 1)) };
  });
}

/** Line ends in [from, to) whose next line begins at `to` or before. */
function lineEnds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 0x0a || (unit === 0x0d && text.charCodeAt(at + 1) !== 0x0a)) count += 1;
  }
  return count;
}
