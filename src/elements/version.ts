import { MillraceError } from '../errors/millrace-error.js';

/**
 * A fixed-width ASCII string `eeeeeeee.pppppppppppppppp.iiiiiiiiiiiiiiii` (lower-case hex): the epoch of the source, the
 * position in it, and an index within that position. Versions of one source are compared byte by byte.
 */
export type Version = string & { readonly __brand: 'Version' };

const shape = /^[0-9a-f]{8}\.[0-9a-f]{16}\.[0-9a-f]{16}$/;
const limit64 = 1n << 64n;

/** @param epoch 0 to 2^32 - 1; @param position and index 0 to 2^64 - 1, a number where it is a safe integer */
export function versionOf(epoch: number, position: bigint | number, index: bigint | number = 0): Version {
  if (!Number.isInteger(epoch) || epoch < 0 || epoch > 0xffffffff)
    throw new MillraceError(
      'internal',
      `A version's epoch must be an integer from 0 to 2^32 - 1, not ${epoch}.`,
    );
  return `${hex(epoch, 8)}.${hex(position, 16)}.${hex(index, 16)}` as Version;
}

/** Versions at one position of one epoch, by their index. */
export function versionsAt(epoch: number, position: bigint | number): (index: bigint | number) => Version {
  const shared = versionOf(epoch, position).slice(0, -16);
  return (index) => (shared + hex(index, 16)) as Version;
}

const zeros = '0'.repeat(16);

function hex(value: bigint | number, width: 8 | 16): string {
  const fits =
    typeof value === 'number' ? value >= 0 && Number.isSafeInteger(value) : value >= 0n && value < limit64;
  if (!fits)
    throw new MillraceError('internal', `A version's position must fit 64 unsigned bits, not ${value}.`);
  // Of nearly every epoch, and of every index that is not needed.
  if (value === 0) return width === 8 ? '00000000' : zeros;
  const digits = value.toString(16);
  return zeros.slice(16 - width + digits.length) + digits;
}

/** Reads a version back from a store or a file. @throws MillraceError `internal` for any other string. */
export function parseVersion(text: string): Version {
  if (!shape.test(text)) throw new MillraceError('internal', `Not a version: ${JSON.stringify(text)}.`);
  return text as Version;
}

/** The least version that is greater than this one, in the same epoch. */
export function nextVersion(version: Version): Version {
  const [epoch, position, index] = version.split('.').map((part) => BigInt(`0x${part}`)) as [
    bigint,
    bigint,
    bigint,
  ];
  const next = index + 1n;
  return next < limit64 ? versionOf(Number(epoch), position, next) : versionOf(Number(epoch), position + 1n);
}

/** The least position of an epoch at which every version is greater than this one, or equal to it. */
export function positionAfter(version: Version): number {
  const [, position, index] = version.split('.') as [string, string, string];
  return Number.parseInt(position, 16) + (index === zeros ? 0 : 1);
}

/** The greater of two versions; an absent one is below all. */
export function laterVersion(a: Version | undefined, b: Version | undefined): Version | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}
