import type { Json } from './metadata.js';

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses JSON; a number that JavaScript cannot hold exactly becomes its text. */
export function parseExactJson(text: string): Json {
  // Only with so many digits, or an exponent, can a number be inexact.
  const careful = /\d[\d.]{14}|\d[eE]/.test(text);
  return JSON.parse(careful ? text.replace(stringOrNumber, exact) : text) as Json;
}

function exact(token: string): string {
  return token.startsWith('"') || isExact(token) ? token : `"${token}"`;
}

/** Of up to 15 significant digits every decimal number comes back as it was; of 16 or 17, those that a double is written as. */
function isExact(number: string): boolean {
  const digits = number
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  const value = Number(number);
  if (!Number.isFinite(value) || (value === 0 && digits !== '')) return false;
  return digits.length <= 15 || String(value) === number;
}
