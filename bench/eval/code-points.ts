/**
 * Turns offsets in Unicode code points, as Python counts them, into offsets in UTF-16 code units.
 * @throws RangeError from the returned function, for an offset outside the text
 */
export function codePointOffsets(text: string): (offset: number) => number {
  const units: number[] = [0];
  let at = 0;
  for (const character of text) units.push((at += character.length));
  return (offset) => {
    const unit = units[offset];
    if (unit === undefined)
      throw new RangeError(`offset ${offset} of a text of ${units.length - 1} code points`);
    return unit;
  };
}
