/** The greatest finite number of 16 bits; what rounds beyond it has none. */
const greatest = 65_504;
/** From here on a number rounds to infinity: half way to the next power of two. */
const overflow = 65_520;

/** Why a vector that is sound has no equal in floats of 16 bits; undefined when it has one. */
export function halfFault(vector: Float32Array): string | undefined {
  let zero = true;
  for (const number of vector) {
    if (Math.abs(number) >= overflow)
      return `a component is ${number}, and halfvec holds ${greatest} at most: write \`vectors: vector\` in the sink`;
    zero &&= Math.abs(number) <= 2 ** -25;
  }
  return zero ? 'its components are too small for halfvec: write `vectors: vector` in the sink' : undefined;
}

/** Writes floats of 16 bits (IEEE 754 binary16), big-endian, rounded to the nearest, ties to the even. @returns the end */
export function writeHalves(out: Buffer, at: number, vector: Float32Array): number {
  const bits = new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
  for (const one of bits) {
    const half = halfOf(one);
    out[at++] = half >>> 8;
    out[at++] = half & 0xff;
  }
  return at;
}

/** @param bits of a float of 32 bits whose magnitude is below `overflow` */
function halfOf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fff_ffff;
  const exponent = magnitude >>> 23;
  // From 2^-14 on a half has 10 of the 23 bits behind the point, and an exponent that is 112 less.
  if (exponent >= 113) return sign | rounded(magnitude - (112 << 23), 13);
  // Below it counts in steps of 2^-24.
  const shift = 126 - exponent;
  return shift > 24 ? sign : sign | rounded((magnitude & 0x7f_ffff) | 0x80_0000, shift);
}

/** Without its last bits; a carry into the exponent is right as it is. */
function rounded(number: number, shift: number): number {
  const kept = number >>> shift;
  const rest = number - kept * 2 ** shift;
  const middle = 2 ** (shift - 1);
  return rest > middle || (rest === middle && (kept & 1) === 1) ? kept + 1 : kept;
}
