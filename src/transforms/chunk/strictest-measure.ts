import type { TokenMeasure } from '../../contracts/token-measure.js';

/** The measure of a text that has to fit several models: a slice costs what it costs the one for which it is dearest. */
export function strictestMeasure(measures: readonly TokenMeasure[]): TokenMeasure {
  const [only] = measures;
  if (measures.length === 1) return only!;
  return {
    tokens: (start, end) => Math.max(...measures.map((one) => one.tokens(start, end))),
    fit(start, budget, limit) {
      // A shorter slice may have more tokens for another model: they are asked until all agree.
      for (let end = limit; ;) {
        const next = measures.reduce((least, one) => one.fit(start, budget, least), end);
        if (next === end) return end;
        end = next;
      }
    },
  };
}
