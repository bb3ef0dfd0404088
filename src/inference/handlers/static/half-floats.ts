/** The value of every 16-bit float, by its bits (IEEE 754 binary16): a look-up is faster than the arithmetic. */
export function halfFloats(): Float32Array {
  return Float32Array.from({ length: 1 << 16 }, (_, bits) => {
    const exponent = (bits >> 10) & 0x1f;
    const fraction = bits & 0x3ff;
    const sign = bits & 0x8000 ? -1 : 1;
    if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
}

/** The value of every bfloat16, by its bits: the upper half of a 32-bit float. */
export function brainFloats(): Float32Array {
  return new Float32Array(Uint32Array.from({ length: 1 << 16 }, (_, bits) => bits << 16).buffer);
}
