import type { MeasureText } from '../../contracts/token-measure.js';

export interface FittedContext {
  /** What is put before the text: the beginning of the context and a blank line, or nothing. */
  readonly prefix: string;
  /** Tokens of the prefix and the text together. */
  readonly tokens: number;
  /** The context was cut. */
  readonly cut: boolean;
}

const gap = '\n\n';

/** The longest beginning of a context that fits before a text. A text over the limit by itself gets none. */
export function fitContext(
  context: string,
  text: string,
  measure: MeasureText,
  { maxTokens, contextTokens }: { readonly maxTokens: number; readonly contextTokens: number },
): FittedContext {
  const whole = context.trim();
  const ofContext = measure(whole);
  for (let budget = contextTokens; budget > 0;) {
    const kept = beginning(whole, ofContext.fit(0, budget, whole.length));
    if (kept === '') break;
    const prefix = kept + gap;
    const tokens = count(prefix + text, measure);
    if (tokens <= maxTokens) return { prefix, tokens, cut: kept.length < whole.length };
    // Where the two meet their tokens may be others than those of each: what is over tells how much has to go.
    budget = Math.min(budget, ofContext.tokens(0, kept.length)) - (tokens - maxTokens);
  }
  return { prefix: '', tokens: count(text, measure), cut: whole !== '' };
}

/** Without half a character or blanks at its end. */
function beginning(text: string, end: number): string {
  const inside = end > 0 && end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1]!);
  return text.slice(0, inside ? end - 1 : end).trimEnd();
}

function count(text: string, measure: MeasureText): number {
  return measure(text).tokens(0, text.length);
}
