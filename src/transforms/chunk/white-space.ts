/** Whether a UTF-16 code unit is what `String.prototype.trim` removes. */
export function isBlank(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0x1680 || (unit > 0x3000 && unit !== 0xfeff)) return unit === 0xa0;
  return (
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x3000 ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x1680 ||
    unit === 0xfeff
  );
}

/** Whether a code unit ends a line: LF, CR (alone or before LF), VT, FF, LS, PS. */
export function isLineEnd(unit: number): boolean {
  return (unit >= 0x0a && unit <= 0x0d) || unit === 0x2028 || unit === 0x2029;
}

/** The first position from `at` on whose code unit is not blank; the text's length when there is none. */
export function skipBlank(text: string, at: number): number {
  while (at < text.length && isBlank(text.charCodeAt(at))) at += 1;
  return at;
}
