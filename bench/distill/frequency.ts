/**
 * Smooth inverse frequency weights a / (a + p) (Arora, Liang, Ma 2017) without a corpus: the vocabulary is sorted by
 * frequency, so the share of rank r is taken from Zipf's law, 1 / (r ln V), as model2vec does.
 */
export function inverseFrequencyWeights(vocabulary: number, a: number): Float32Array {
  return Float32Array.from({ length: vocabulary }, (_, i) => a / (a + 1 / ((i + 2) * Math.log(vocabulary))));
}
