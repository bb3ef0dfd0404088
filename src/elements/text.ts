/** Characters that no store can hold: NUL, and surrogates without their partner. */
const unstorable = /\u0000|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

export interface CleanText {
  /** Of the same length as the input, so that offsets hold for both. */
  readonly text: string;
  /** How many code units were replaced by U+FFFD. */
  readonly replaced: number;
}

/** The text as a store can hold it: `cleanText` without the count. */
export function storable(text: string): string {
  return isStorable(text) ? text : cleanText(text).text;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Replaces each NUL and each lone surrogate by U+FFFD. */
export function cleanText(text: string): CleanText {
  if (isStorable(text)) return { text, replaced: 0 };
  let replaced = 0;
  const clean = text.replace(unstorable, () => {
    replaced += 1;
    return '\uFFFD';
  });
  return { text: clean, replaced };
}
