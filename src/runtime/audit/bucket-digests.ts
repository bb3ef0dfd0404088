import { textHash } from '../../elements/hash.js';

const mask = (1n << 64n) - 1n;

/** Hex digits of the hash of an id that name its bucket: 4,096 buckets. */
const digits = 3;

export function bucketOf(id: string): string {
  return textHash(id).slice(0, digits);
}

/**
 * Digests of pairs of id and content hash, in buckets by id, whatever the order in which they come: the sum of their hashes
 * modulo 2^64, and their number. Two sides of which all buckets are equal hold the same; memory does not grow with them.
 */
export class BucketDigests {
  readonly #buckets = new Map<string, { sum: bigint; count: number }>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(id: string, hash: string): void {
    const name = bucketOf(id);
    const bucket = this.#buckets.get(name) ?? { sum: 0n, count: 0 };
    bucket.sum = (bucket.sum + BigInt(`0x${textHash(`${id}\0${hash}`).slice(0, 16)}`)) & mask;
    bucket.count += 1;
    this.#count += 1;
    this.#buckets.set(name, bucket);
  }

  /** Names of the buckets in which the two sides differ. */
  differing(other: BucketDigests): Set<string> {
    const names = new Set([...this.#buckets.keys(), ...other.#buckets.keys()]);
    return new Set(
      [...names].filter((name) => {
        const [a, b] = [this.#buckets.get(name), other.#buckets.get(name)];
        return a?.sum !== b?.sum || a?.count !== b?.count;
      }),
    );
  }
}
