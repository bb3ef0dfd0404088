import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { characterMeasure } from '../src/transforms/chunk/character-measure.js';
import { createSplitter, type Splitter } from '../src/transforms/chunk/chunker.js';
import type { Benchmark, Figure } from './figure.js';

const rounds = 15;
const bytes = 10_000_000;

interface Case {
  readonly name: string;
  readonly split: Splitter;
  readonly whole: string;
  readonly tenths: readonly string[];
}

/**
 * Speed of both chunkers with the counter of one token per four characters, over 10 MB of Markdown (the files of
 * `node_modules`, in turn) and over one line of 10 MB of Chinese without white space. A megabyte is 10^6 bytes of UTF-8;
 * characters are UTF-16 code units. Medians of rounds in which the cases take turns; growth is the time of 10 MB over
 * that of 1 MB, the mean of the ten parts of the same text.
 */
export const chunk: Benchmark = {
  about: 'speed of the chunkers over 10 MB of Markdown and one line of 10 MB of Chinese',
  run: measure,
};

async function* measure(say: (line: string) => void): AsyncGenerator<Figure> {
  const texts = {
    markdown: markdownText(),
    'cjk-line': '天地玄黃，宇宙洪荒。日月盈昃辰宿列張寒來暑往秋收冬藏',
  };
  const options = { maxTokens: 256, overlap: 0 };
  const splitters = {
    recursive: createSplitter({ recursive: options }),
    markdown: createSplitter({ markdown: options }),
    'markdown-overlap-32': createSplitter({ markdown: { ...options, overlap: 32 } }),
  };
  const cases: Case[] = Object.entries(texts).flatMap(([kind, unit]) => {
    const whole = ofBytes(unit, bytes);
    const tenths = tenthsOf(whole);
    return Object.entries(splitters).map(([name, split]) => ({
      name: `chunk.${name}.${kind}`,
      split,
      whole,
      tenths,
    }));
  });
  const times = cases.map(() => ({ whole: [] as number[], tenth: [] as number[] }));
  for (let round = 0; round < rounds; round += 1) {
    say(`round ${round + 1} of ${rounds}`);
    for (const [index, { split, whole, tenths }] of cases.entries()) {
      times[index]!.tenth.push(timed(split, tenths) / 10);
      times[index]!.whole.push(timed(split, [whole]));
      await new Promise(setImmediate);
    }
  }
  for (const [index, { name, whole }] of cases.entries()) {
    const seconds = median(times[index]!.whole);
    const barred = !name.includes('overlap');
    const megabytes = Buffer.byteLength(whole) / 1e6 / seconds;
    yield {
      name: `${name}.speed`,
      value: round2(megabytes),
      unit: 'MB/s',
      better: 'higher',
      ...(barred ? { bar: 20 } : {}),
    };
    yield {
      name: `${name}.characters`,
      value: Math.round(whole.length / seconds),
      unit: 'characters/s',
      better: 'higher',
    };
    const growth = median(times[index]!.whole.map((time, round) => time / times[index]!.tenth[round]!));
    yield {
      name: `${name}.growth`,
      value: round2(growth),
      unit: 'x',
      better: 'lower',
      ...(barred ? { bar: 11 } : {}),
    };
  }
}

/** All Markdown files of the installed packages, one after another. */
function markdownText(): string {
  const files = readdirSync('node_modules', { recursive: true, encoding: 'utf8' });
  const markdown = files.filter((file) => /\.md$/i.test(file)).sort();
  return markdown.map((file) => readFileSync(join('node_modules', file), 'utf8')).join('\n\n');
}

/** `unit` over and over, as one flat string of about so many bytes. */
function ofBytes(unit: string, size: number): string {
  const source = Buffer.from(unit);
  const copies = Buffer.concat(Array.from({ length: Math.ceil(size / source.length) }, () => source));
  return copies.subarray(0, size).toString('utf8');
}

/** The ten parts of a text, each a flat string of its own. */
function tenthsOf(text: string): string[] {
  const source = Buffer.from(text);
  return Array.from({ length: 10 }, (_, part) =>
    source.subarray((part * source.length) / 10, ((part + 1) * source.length) / 10).toString('utf8'),
  );
}

/** Seconds for all texts, one after another. */
function timed(split: Splitter, texts: readonly string[]): number {
  const begin = performance.now();
  for (const text of texts) split(text, characterMeasure());
  return (performance.now() - begin) / 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
