const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,4}))?$/;
/** Longer ones are no numbers that anybody compares. */
const mostDigits = 1000;

/**
 * A number, written as in JSON, as `numeric_send` writes it: groups of four decimal digits, the place of the first one, the
 * sign, and how many digits follow the point. (https://github.com/postgres/postgres/blob/REL_16_0/src/backend/utils/adt/numeric.c)
 * @returns undefined where the text is no number
 */
export function numericBytes(text: string): Buffer | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = decimal.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const shift = Number(exponent);
  if (whole.length + fraction.length + Math.abs(shift) > mostDigits) return undefined;
  let [before, after] = [whole, fraction];
  if (shift > 0) [before, after] = [before + after.slice(0, shift).padEnd(shift, '0'), after.slice(shift)];
  if (shift < 0) {
    const padded = before.padStart(-shift, '0');
    [before, after] = [padded.slice(0, shift), padded.slice(shift) + after];
  }
  const scale = after.length;
  before = before.padStart(Math.ceil(before.length / 4) * 4, '0');
  after = after.padEnd(Math.ceil(scale / 4) * 4, '0');
  const groups = ((before + after).match(/.{4}/g) ?? []).map(Number);
  let weight = before.length / 4 - 1;
  while (groups[0] === 0) {
    groups.shift();
    weight -= 1;
  }
  while (groups.at(-1) === 0) groups.pop();
  const zero = groups.length === 0;
  const bytes = Buffer.alloc(8 + groups.length * 2);
  bytes.writeInt16BE(groups.length, 0);
  bytes.writeInt16BE(zero ? 0 : weight, 2);
  bytes.writeUInt16BE(sign === '-' && !zero ? 0x4000 : 0, 4);
  bytes.writeInt16BE(scale, 6);
  groups.forEach((group, at) => bytes.writeInt16BE(group, 8 + at * 2));
  return bytes;
}
