import { chunk, type TextPassage } from '../src/transforms/chunk/chunk.js';
import type { Benchmark } from './figure.js';
import { median } from './median.js';
import { readmes, repeated } from './readmes.js';

const large = 10_000_000;
const parts = 10;
const rounds = 15;

type Split = (text: string) => TextPassage[];

/** The chunkers with the measure that charges one token for every 4 characters. */
export const chunkers: Benchmark = {
  about:
    'chunkers, one token for 4 characters: 10 MB of Markdown, one 10 MB line of Chinese, 10 MB against 1 MB (the mean of its ten parts)',
  async *run(say) {
    const texts = { markdown: markdownText, 'chinese-line': chineseLine };
    const splits: Record<string, Split> = { markdown: chunk.markdown, recursive: chunk.recursive };
    for (const [splitter, split] of Object.entries(splits))
      for (const [kind, make] of Object.entries(texts)) {
        const big = make(large);
        const little = partsOf(big);
        checkPassages(big, split(big));
        little.forEach((part) => split(part));
        const [bigMs, littleMs]: [number[], number[]] = [[], []];
        for (let round = 0; round < rounds; round += 1) {
          bigMs.push(timeOf(() => split(big)));
          // The same text in ten parts, one after another: no part is warmer in the caches than the whole.
          littleMs.push(timeOf(() => little.forEach((part) => split(part))) / parts);
        }
        say(`${splitter}, ${kind}: ${bigMs.map(Math.round).join(', ')} ms`);
        yield {
          name: `chunk/${splitter}/${kind}`,
          value: rounded(Buffer.byteLength(big) / 1000 / median(bigMs)),
          unit: 'MB/s',
          bar: 20,
          better: 'higher',
        };
        yield {
          name: `chunk/${splitter}/${kind}/10-MB-to-1-MB`,
          value: rounded(median(bigMs.map((ms, round) => ms / littleMs[round]!))),
          unit: 'times',
          bar: 11,
          better: 'lower',
        };
      }
  },
};

/** A text in ten parts, each a flat string of its own. */
function partsOf(text: string): string[] {
  const units = Math.ceil(text.length / parts);
  return Array.from({ length: parts }, (_, part) => {
    const slice = text.slice(part * units, (part + 1) * units);
    return Buffer.from(slice, 'utf16le').toString('utf16le');
  });
}

/** READMEs of installed packages, one after another. @param bytes of UTF-8, about */
function markdownText(bytes: number): string {
  return repeated(readmes(), bytes).join('\n\n').slice(0, bytes);
}

/** One line without a blank: sentences of common characters, ended by an ideographic full stop. */
function chineseLine(bytes: number): string {
  let state = 1;
  const next = (below: number) => (state = (state * 48_271) % 0x7fffffff) % below;
  let line = '';
  for (let left = Math.floor(bytes / 3); left > 0;) {
    const length = Math.min(left - 1, 5 + next(40));
    let sentence = '';
    for (let at = 0; at < length; at += 1) sentence += String.fromCharCode(0x4e00 + next(3_000));
    line += `${sentence}。`;
    left -= length + 1;
  }
  return line;
}

/** What a chunker promises, over the whole text: a fast wrong answer is no figure. */
function checkPassages(text: string, passages: readonly TextPassage[]): void {
  let covered = 0;
  let last = -1;
  for (const { start, end, tokens, text: slice } of passages) {
    if (start <= last || end <= covered) throw new Error(`The passage at ${start} goes back.`);
    if (text.slice(covered, start).trim() !== '') throw new Error(`Text before ${start} is in no passage.`);
    if (tokens > 256 || Math.ceil((end - start) / 4) > tokens)
      throw new Error(`The passage at ${start} is over its limit.`);
    if (!slice.isWellFormed() || slice !== text.slice(start, end))
      throw new Error(`The passage at ${start} is not a slice of its text.`);
    [last, covered] = [start, end];
  }
  if (text.slice(covered).trim() !== '') throw new Error('The end of the text is in no passage.');
}

function timeOf(work: () => unknown): number {
  const began = performance.now();
  work();
  return performance.now() - began;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
