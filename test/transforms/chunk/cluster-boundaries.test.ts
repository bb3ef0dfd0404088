import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterBoundaries, isPlain } from '../../../src/transforms/chunk/cluster-boundaries.js';
import { nastyText } from './support/nasty-text.js';

const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });
const wholeText = (text: string) =>
  new Set([0, text.length, ...[...segmenter.segment(text)].map(({ index }) => index)]);

/** Every kind of character that the rules for clusters name. */
const kinds = [
  'a', ' ', '\n', '\r', '\u0001', '\u0301', '\u0903', '\u200d', '\u200c', '\ufe0f', '🏽', '🇦', '🇧', '😀', '©', '❤',
  '\u0600', '\u1100', '\u1161', '\u11a8', '가', '각', 'क', '\u094d', '\u093c', 'ਕ', '\u0a4d', 'ക', '\u0d4d', 'ก', 'ำ', '\u1039', 'က',
  '\u{e0067}', '\u{110bd}', '\u{1133d}', '\ud83d', '\udc00', '字', 'ｶ', 'ﾞ',
]; // prettier-ignore

describe('cluster boundaries', () => {
  it('are those of the whole text, at every position, in any order of asking', () => {
    const text = fc.oneof(
      fc.array(fc.constantFrom(...kinds), { maxLength: 40 }).map((some) => some.join('')),
      nastyText,
    );
    fc.assert(
      fc.property(text, fc.infiniteStream(fc.nat()), (sample, numbers) => {
        const expected = wholeText(sample);
        const asked = clusterBoundaries(sample);
        for (let at = 0; at <= sample.length; at += 1) {
          const position = numbers.next().value % (sample.length + 1);
          for (const p of [position, at]) {
            if (asked.has(p) !== expected.has(p)) throw new Error(`${JSON.stringify(sample)} at ${p}`);
          }
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('take as plain only code units that stand alone beside any other', () => {
    const joining: string[] = [];
    for (let unit = 0; unit < 0x10000; unit += 1) {
      if (!isPlain(unit)) continue;
      const character = String.fromCharCode(unit);
      const between = `a${character}\u4e00${character}\uac00${character}`;
      if ([...segmenter.segment(between)].length !== 6) joining.push(unit.toString(16));
    }
    expect(joining).toEqual([]);
  });

  it('pair flags from the start of a run of 20,000 and stay fast', () => {
    const text = '🇫'.repeat(20_001);
    const boundaries = clusterBoundaries(text);
    const found: number[] = [];
    for (let at = 0; at <= text.length; at += 2) if (boundaries.has(at)) found.push(at);
    expect(found.length).toBe(10_002);
    expect(boundaries.before(39_999, 0)).toBe(39_996);
    expect(boundaries.after(39_996, text.length)).toBe(40_000);
  });
});
