import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTokenizer } from '../src/inference/tokenizer/create-tokenizer.js';
import { parseTokenizerFile } from '../src/inference/tokenizer/tokenizer-file.js';
import type { Tokenizer } from '../src/inference/tokenizer/tokenizer.js';
import { measureTokens } from '../src/inference/tokenizer/measure-tokens.js';
import { defaultWorkerCount } from '../src/inference/workers/cores.js';
import { minilmFolder } from '../test/support/weights/minilm.js';
import type { Figure } from './figure.js';
import { createSplitter } from '../src/transforms/chunk/chunker.js';
import { readmes } from './readmes.js';

/** A text with its ids, special tokens excluded; as plain data. */
export interface ReadyText {
  readonly text: string;
  readonly ids: readonly number[];
}

export type TextSet = 'mixed' | 'chunks';
/** `warmUp` is for a side's first calls, before the clock starts; none of it is in the sets. */
export type TextSets = { readonly [set in TextSet | 'warmUp']: readonly ReadyText[] };

/** Special tokens around a text of MiniLM. */
const specialTokens = 2;

/** What every side of the benchmark is given. */
export interface EmbedInput {
  /** The model's folder. */
  readonly folder: string;
  /** JSON file with both sets. */
  readonly texts: string;
  readonly workers: number;
}

/** Writes the texts of the embed benchmark to a file, and removes it in the end. */
export async function* withEmbedTexts(
  work: (input: EmbedInput, sets: TextSets) => AsyncIterable<Figure>,
): AsyncGenerator<Figure> {
  const folder = minilmFolder();
  const scratch = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  try {
    const sets = await embedTexts(join(folder, 'tokenizer.json'), {
      mixed: 4_096,
      chunks: 1_536,
      warmUp: 1_024,
    });
    const texts = join(scratch, 'texts.json');
    await writeFile(texts, JSON.stringify(sets));
    yield* work({ folder, texts, workers: defaultWorkerCount() }, sets);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Out of the READMEs of the installed packages; the same on every run. */
export async function embedTexts(
  tokenizerFile: string,
  { mixed: shown, chunks, warmUp = 0 }: { mixed: number; chunks: number; warmUp?: number },
): Promise<TextSets> {
  const tokenizer = await createTokenizer(
    parseTokenizerFile(readFileSync(tokenizerFile, 'utf8'), tokenizerFile),
    tokenizerFile,
  );
  const texts = readmes();
  const mixed = mixedTexts(tokenizer, texts.join('\n\n').slice(0, (shown + warmUp) * 1_200), shown + warmUp);
  return {
    mixed: mixed.slice(0, shown),
    warmUp: mixed.slice(shown),
    chunks: chunkTexts(tokenizer, texts, chunks),
  };
}

/** Runs of words of 8 to 256 tokens, special tokens included, 85 on average; most are short. */
function mixedTexts(tokenizer: Tokenizer, text: string, count: number): ReadyText[] {
  const { starts, ends, kinds } = tokenizer.encode(text);
  let state = 11;
  const random = () => (state = (state * 48_271) % 0x7fffffff) / 0x7fffffff;
  const beginsWord = (at: number) => kinds[at] !== 0;
  const found: ReadyText[] = [];
  let at = 0;
  while (found.length < count) {
    let end = at + Math.round(8 + 248 * random() ** 2.2) - specialTokens;
    if (end > starts.length) throw new Error('The READMEs hold too little text.');
    while (end > at + 1 && end < starts.length && !beginsWord(end)) end -= 1;
    const slice = text.slice(starts[at], ends[end - 1]);
    found.push({ text: slice, ids: [...tokenizer.ids(slice)] });
    at = end;
  }
  return found;
}

/** Chunks as the Markdown chunker makes them by default, evenly out of all. */
function chunkTexts(tokenizer: Tokenizer, texts: readonly string[], count: number): ReadyText[] {
  const split = createSplitter({ markdown: { maxTokens: 254, overlap: 0, minTokens: 64 } });
  const all = texts.flatMap((text) =>
    split(text, (measured) => measureTokens(tokenizer, tokenizer.encode(measured))).map(({ start, end }) =>
      text.slice(start, end),
    ),
  );
  if (all.length < count) throw new Error(`The READMEs make ${all.length} chunks, not ${count}.`);
  return Array.from({ length: count }, (_, at) => {
    const text = all[Math.floor((at * all.length) / count)]!;
    return { text, ids: [...tokenizer.ids(text)] };
  });
}
