import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../src/elements/canonical-json.js';
import { createDocument } from '../../src/elements/document.js';
import type { Metadata } from '../../src/elements/metadata.js';
import { contentHash } from '../../src/elements/hash.js';
import { ChunkIds } from '../../src/elements/ids.js';
import { cleanText } from '../../src/elements/text.js';
import {
  laterVersion,
  nextVersion,
  parseVersion,
  versionOf,
  versionsAt,
} from '../../src/elements/version.js';
import { uuidOf } from '../../src/elements/uuid.js';

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

  test('numbers and big integers give the same version, and so does whatever shares an epoch and a position', () => {
    const most = Number.MAX_SAFE_INTEGER;
    for (const [epoch, position, index] of [
      [0, 0, 0],
      [7, 1_700_000_000_123, 12],
      [0xffffffff, most, most],
    ] as const) {
      const version = versionOf(epoch, BigInt(position), BigInt(index));
      expect(versionOf(epoch, position, index)).toBe(version);
      expect(versionsAt(epoch, position)(index)).toBe(version);
      expect(parseVersion(version)).toBe(version);
    }
    expect(() => versionOf(0, -1)).toThrow('64 unsigned bits');
    expect(() => versionOf(0, 2 ** 60)).toThrow('64 unsigned bits');
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

describe('metadata made by functions of others', () => {
  const stored = (metadata: object) =>
    createDocument({ id: 'a', text: '', metadata: metadata as Metadata, version: versionOf(0, 0n) }).metadata;

  test('what has a JSON form of its own takes it, and fields without a value are none', () => {
    expect(stored({ at: new Date(0), none: undefined, bare: Object.create(null) as object })).toEqual({
      at: '1970-01-01T00:00:00.000Z',
      bare: {},
    });
  });

  const loop: { inner: object[] } = { inner: [] };
  loop.inner.push(loop);
  const shared = { n: 1 };
  test.each([
    ['a Map', { m: new Map([[1, 2]]) }, 'm is a Map, which JSON cannot hold.'],
    ['a bigint far inside', { a: [{ b: 1n }] }, 'a[0].b is a bigint, which JSON cannot hold.'],
    ['a function', { f: () => 1 }, 'f is a function, which JSON cannot hold.'],
    ['no number', { price: { net: NaN } }, 'price.net is NaN, which JSON cannot hold.'],
    ['an infinite number', { all: [-Infinity] }, 'all[0] is -Infinity, which JSON cannot hold.'],
    ['a loop', { loop }, 'loop.inner[0] is an object that holds itself, which JSON cannot hold.'],
  ])('%s is refused with its place', (_, metadata, message) => {
    expect(() => stored(metadata)).toThrow(expect.objectContaining({ code: 'transform_failed', message }));
  });

  test('a field may be called __proto__', () => {
    const metadata = JSON.parse('{"__proto__": {"a": 1}, "b": 2}') as object;
    expect(Object.entries(stored(metadata))).toEqual([
      ['__proto__', { a: 1 }],
      ['b', 2],
    ]);
  });

  test('one object in two places is no loop', () => {
    expect(stored({ a: shared, b: shared })).toEqual({ a: { n: 1 }, b: { n: 1 } });
  });
});

describe('chunk id', () => {
  test('keeps its value from release to release', () => {
    const hash = '0123456789abcdef0123456789abcdef';
    expect(new ChunkIds('p"é').of('d/ü', hash, 12)).toBe('2caeebf3-ffcc-5d86-8ae9-d3610ccb94a3');
  });

  test('of one document does not depend on what was named before it', () => {
    const ids = new ChunkIds('p');
    const documents = ['d', 'é'.repeat(3_000), 'd', ''];
    const named = documents.flatMap((id) => [ids.of(id, 'a0', 0), ids.of(id, 'a0b1', 12)]);
    expect(named).toEqual(
      documents.flatMap((id) => [
        new ChunkIds('p').of(id, 'a0', 0),
        uuidOf(`["p",${JSON.stringify(id)},"a0b1",12]`),
      ]),
    );
  });

  test('is a version 5 UUID, the same for the same parts and another for any other', () => {
    const id = new ChunkIds('p').of('d', 'a0', 0);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new ChunkIds('p').of('d', 'a0', 0)).toBe(id);
    const others = [
      new ChunkIds('q').of('d', 'a0', 0),
      new ChunkIds('p').of('e', 'a0', 0),
      new ChunkIds('p').of('d', 'a1', 0),
      new ChunkIds('p').of('d', 'a0', 1),
    ];
    expect(new Set([id, ...others]).size).toBe(5);
  });
});
