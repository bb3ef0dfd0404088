/** How soon more occurrences of a term stop counting, and how far long texts are held back. */
const k1 = 1.2;
const b = 0.75;

/**
 * Ranks texts for a query by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond",
 * 2009, with the inverse document frequency of Lucene, which is never below 0). Terms are lower-case runs of letters and
 * digits: no stemming, no stop words.
 * @returns a function from a query to a score for each text
 */
export function createBm25(texts: readonly string[]): (query: string) => Float64Array {
  const lengths = new Float64Array(texts.length);
  const occurrences = new Map<string, Map<number, number>>();
  texts.forEach((text, index) => {
    for (const term of terms(text)) {
      lengths[index]! += 1;
      const counts = occurrences.get(term) ?? new Map<number, number>();
      counts.set(index, (counts.get(index) ?? 0) + 1);
      occurrences.set(term, counts);
    }
  });
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / texts.length;

  return (query) => {
    const scores = new Float64Array(texts.length);
    for (const term of terms(query)) {
      const counts = occurrences.get(term);
      if (counts === undefined) continue;
      const rarity = Math.log(1 + (texts.length - counts.size + 0.5) / (counts.size + 0.5));
      for (const [index, count] of counts) {
        const norm = k1 * (1 - b + (b * lengths[index]!) / meanLength);
        scores[index]! += (rarity * count * (k1 + 1)) / (count + norm);
      }
    }
    return scores;
  };
}

function terms(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
