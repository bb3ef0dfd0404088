/** Numbers from 0 to below 1, the same for the same seed: https://en.wikipedia.org/wiki/Xorshift (32 bits). */
export function seededRandom(seed: number): () => number {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5f356495) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
