import { isUtf8 } from 'node:buffer';
import { MillraceError } from '../../src/errors/millrace-error.js';

/**
 * Decodes UTF-8 strictly; a byte order mark is dropped.
 * @param what names the bytes in the message
 * @returns the text, or why the bytes are none: MillraceError `item_malformed`
 */
export function decodeText(bytes: Buffer, what: string): string | MillraceError {
  const utf16 = utf16Mark(bytes);
  if (utf16 !== undefined)
    return new MillraceError('item_malformed', `${what} is ${utf16}, by its byte order mark, not UTF-8.`, {
      hint: 'Convert it: iconv -f UTF-16 -t UTF-8.',
    });
  if (!isUtf8(bytes))
    return new MillraceError('item_malformed', `${what} is not valid UTF-8.`, {
      hint: 'Convert it to UTF-8, or leave it out by `exclude`.',
    });
  if (isMostlyNul(bytes))
    return new MillraceError('item_malformed', `${what} is not text: many of its bytes are NUL.`, {
      hint: 'It may be UTF-16 without a byte order mark, or binary: convert it, or leave it out by `exclude`.',
    });
  const mark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString('utf8', mark ? 3 : 0);
}

/** More than a tenth of the first 64 KiB: a stray NUL is no reason to refuse a text. */
function isMostlyNul(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, 65_536);
  let count = 0;
  for (let at = bytes.indexOf(0); at !== -1 && at < length; at = bytes.indexOf(0, at + 1)) count += 1;
  return count * 10 > length;
}

/** What a byte order mark at the beginning says, unless it is that of UTF-8. */
export function utf16Mark(bytes: Buffer): 'UTF-16LE' | 'UTF-16BE' | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'UTF-16LE';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'UTF-16BE' : undefined;
}
