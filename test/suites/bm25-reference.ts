/** BM25 as its authors wrote it down, over words that are split already. @returns a score for each text, 0 without a word of the question */
export function bm25(
  texts: readonly (readonly string[])[],
  question: readonly string[],
  { k1, b }: { readonly k1: number; readonly b: number },
): number[] {
  const mean = texts.reduce((sum, words) => sum + words.length, 0) / texts.length;
  return texts.map((words) =>
    question.reduce((score, word) => {
      const count = words.filter((one) => one === word).length;
      const holding = texts.filter((one) => one.includes(word)).length;
      const rarity = Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5));
      return score + (rarity * count * (k1 + 1)) / (count + k1 * (1 - b + (b * words.length) / mean));
    }, 0),
  );
}
