import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../src/elements/canonical-json.js';
import { createDocument } from '../../src/elements/document.js';
import { contentHash } from '../../src/elements/hash.js';
import { chunkId } from '../../src/elements/ids.js';
import { cleanText } from '../../src/elements/text.js';
import { laterVersion, nextVersion, parseVersion, versionOf } from '../../src/elements/version.js';

const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });

describe('version', () => {
  test('versions compare as their epochs, positions and indexes do', () => {
    const part = fc.tuple(fc.integer({ min: 0, max: 0xffffffff }), u64, u64);
    fc.assert(
      fc.property(part, part, (a, b) => {
        const [first, second] = [versionOf(...a), versionOf(...b)];
        const expected =
          a[0] - b[0] ||
          Number(a[1] > b[1]) - Number(a[1] < b[1]) ||
          Number(a[2] > b[2]) - Number(a[2] < b[2]);
        expect(Math.sign(Number(first > second) - Number(first < second))).toBe(Math.sign(expected));
        expect(first.length).toBe(second.length);
      }),
    );
  });

  test('the next version is greater, and nothing lies between', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: (1n << 64n) - 2n }), u64, (position, index) => {
        const version = versionOf(3, position, index);
        expect(nextVersion(version) > version).toBe(true);
      }),
    );
    expect(nextVersion(versionOf(1, 5n, (1n << 64n) - 1n))).toBe(versionOf(1, 6n, 0n));
  });

  test('an absent version is below all', () => {
    const version = versionOf(0, 1n);
    expect(laterVersion(undefined, version)).toBe(version);
    expect(laterVersion(undefined, undefined)).toBeUndefined();
  });

  test('what is no version is refused', () => {
    expect(() => parseVersion('7')).toThrow('Not a version');
    expect(() => versionOf(-1, 0n)).toThrow('epoch');
    expect(() => versionOf(0, 1n << 64n)).toThrow('64 unsigned bits');
  });
});

describe('document', () => {
  const version = versionOf(0, 0n);

  test('NUL and lone surrogates become U+FFFD in text, values and keys; emoji and visible escapes stay', () => {
    const document = createDocument({
      id: 'a\0b',
      text: 'x\0y\uD83Dz\uDE00 \u{1F600}',
      metadata: { 'k\0': ['\uDC00', { deep: '\\u0000 \u{1F600}' }] },
      version,
    });
    expect(document.id).toBe('a\uFFFDb');
    expect(document.text).toBe('x\uFFFDy\uFFFDz\uFFFD \u{1F600}');
    expect(document.metadata).toEqual({ 'k\uFFFD': ['\uFFFD', { deep: '\\u0000 \u{1F600}' }] });
  });

  test('cleaning keeps the length, is well formed and leaves no NUL', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.array(fc.integer({ min: 0xd7f0, max: 0xe010 })),
        (text, units) => {
          const input = text + String.fromCharCode(...units) + '\0';
          const { text: clean } = cleanText(input);
          expect(clean.length).toBe(input.length);
          expect(clean.isWellFormed()).toBe(true);
          expect(clean).not.toContain('\0');
        },
      ),
    );
  });

  test('the content hash looks at text and metadata, not at key order or version', () => {
    const base = { text: 'a', metadata: { b: 1, c: { d: 2, e: 3 } } };
    expect(contentHash({ text: 'a', metadata: { c: { e: 3, d: 2 }, b: 1 } })).toBe(contentHash(base));
    expect(contentHash({ ...base, text: 'b' })).not.toBe(contentHash(base));
    expect(contentHash({ ...base, metadata: { ...base.metadata, b: 2 } })).not.toBe(contentHash(base));
  });

  test('canonical JSON is JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value as never))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe('chunk id', () => {
  test('is a version 5 UUID, the same for the same parts and another for any other', () => {
    const id = chunkId('p', 'd', 'h', 0);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(chunkId('p', 'd', 'h', 0)).toBe(id);
    const others = [
      chunkId('q', 'd', 'h', 0),
      chunkId('p', 'e', 'h', 0),
      chunkId('p', 'd', 'i', 0),
      chunkId('p', 'd', 'h', 1),
    ];
    expect(new Set([id, ...others]).size).toBe(5);
  });
});
