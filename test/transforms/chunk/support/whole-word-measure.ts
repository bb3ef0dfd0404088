import type { MeasureText } from '../../../../src/contracts/token-measure.js';

const word = /[A-Za-z0-9]+|[^\sA-Za-z0-9]+/gu;

/**
 * Like a vocabulary of whole words: a word of at most eight characters is one token, but a part of it takes one token
 * for every two. So a longer slice may have fewer tokens. For small texts only.
 */
export const wholeWordMeasure: MeasureText = (text) => {
  const words = [...text.matchAll(word)].map(
    (match) => [match.index, match.index + match[0].length] as const,
  );
  const tokens = (start: number, end: number) => {
    let count = 0;
    for (const [from, to] of words) {
      if (from >= end) break;
      const units = Math.min(end, to) - Math.max(start, from);
      if (units <= 0) continue;
      count += units === to - from && units <= 8 ? 1 : Math.ceil(units / 2);
    }
    return count;
  };
  return {
    tokens,
    fit(start, budget, limit) {
      let end = words.find(([, to]) => to > start && tokens(start, to) > budget)?.[1] ?? limit;
      end = Math.min(end, limit);
      while (end > start && tokens(start, end) > budget) end -= 1;
      return end;
    },
  };
};
