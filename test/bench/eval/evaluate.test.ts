import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from 'node:path';
import { readCorpora } from '../../../bench/eval/data.js';
import { evaluate } from '../../../bench/eval/evaluate.js';
import { openModels } from '../../../bench/eval/open-models.js';
import { readOptions } from '../../../bench/eval/options.js';
import { bm25Retriever, denseRetriever } from '../../../bench/eval/retrievers.js';
import { recallRatio, summarise } from '../../../bench/eval/summary.js';
import { loadTokenizer, tokenizerRef } from '../../../src/inference/tokenizer/load-tokenizer.js';
import type { Tokenizer } from '../../../src/inference/tokenizer/tokenizer.js';
import { createResourceTable } from '../../../src/inference/workers/resources.js';
import { createWorkerPool, type WorkerPool } from '../../../src/inference/workers/pool.js';
import { repositoryRoot } from '../../support/repository.js';
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.js';

let pool: WorkerPool;
let tokenizer: Tokenizer;
beforeAll(async () => {
  pool = createWorkerPool({ size: 1 });
  const ref = await tokenizerRef(join(repositoryRoot, 'src/inference/bundled/tokenizer.json'));
  tokenizer = await loadTokenizer(ref, createResourceTable().lease());
});
afterAll(() => pool.close());

const facts = [
  'Bees make honey from nectar.',
  'The moon \u{1F315} circles the earth once a month.',
  'Bread rises because yeast gives off gas.',
  'Glaciers carve wide valleys out of rock.',
];
const text = facts.join('\n\n');

function questionLine(question: string, answer: string, shift = 0): string {
  const start = Array.from(text.slice(0, text.indexOf(answer))).length + shift;
  const reference = { start, end: start + Array.from(answer).length, text: answer };
  return JSON.stringify({ corpus: 'facts', question, references: [reference] });
}

describe('an evaluation', () => {
  test('gives a perfect retriever recall 1, and the measures of what it had to take along', async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, {
      'facts.md': text,
      'questions.jsonl': [
        questionLine('How do bees make honey?', 'honey'),
        questionLine('What makes bread rise?', 'yeast gives off gas'),
        questionLine('What carves valleys?', 'Glaciers carve wide valleys out of rock.'),
      ].join('\n'),
    });
    const corpora = readCorpora(folder);
    const { bundled } = await openModels(repositoryRoot, pool, true);
    const done: number[] = [];
    const { chunks, answers } = await evaluate(
      { recursive: { maxTokens: 14, minTokens: 1, separators: ['\n\n'] } },
      corpora,
      [denseRetriever('bundled', bundled), bm25Retriever],
      { k: 1, tokenizer, onProgress: (_, count, total) => done.push(count / total) },
    );
    await bundled.close();
    expect(chunks).toBe(4);
    expect(done.filter((share) => share === 1).length).toBeGreaterThanOrEqual(2);
    for (const name of ['bundled', 'bm25']) {
      const given = answers.get(name)!;
      expect(given.map(({ recall }) => recall)).toEqual([1, 1, 1]);
      // bees make honey from nectar .
      expect(given[0]!.precision).toBe(1 / 6);
      expect(given[2]!.iou).toBe(1);
      expect(summarise(given).map(({ corpus, questions }) => [corpus, questions])).toEqual([
        ['all', 3],
        ['facts', 3],
      ]);
      expect(recallRatio(given, answers.get('bm25')!)).toEqual({ mean: 1, interval: [1, 1] });
    }
  });
});

describe('the evaluation data', () => {
  test('is read by code points: an answer behind an emoji is where it says', async () => {
    const folder = await temporaryFolder();
    await writeFiles(folder, { 'facts.md': text, 'questions.jsonl': questionLine('Why?', 'yeast') });
    const [corpus] = readCorpora(folder);
    const [{ start, end }] = corpus!.questions[0]!.references as [{ start: number; end: number }];
    expect(text.slice(start, end)).toBe('yeast');
  });

  test('is refused, with its line, when a reference is not the text that it claims', async () => {
    const folder = await temporaryFolder();
    const lines = [questionLine('Why?', 'yeast'), questionLine('Why?', 'yeast', 1)].join('\n');
    await writeFiles(folder, { 'facts.md': text, 'questions.jsonl': lines });
    expect(() => readCorpora(folder)).toThrow(
      expect.objectContaining({
        code: 'item_malformed',
        message: expect.stringContaining('line 2') as string,
      }),
    );
  });

  test('when it is missing, the error says where it comes from', async () => {
    const folder = await temporaryFolder();
    expect(() => readCorpora(join(folder, 'none'))).toThrow(
      expect.objectContaining({
        code: 'item_unreadable',
        hint: expect.stringContaining('brandonstarxel/chunking_evaluation') as string,
      }),
    );
  });
});

describe('the options', () => {
  test('have defaults, and take JSON to a file or to stdout', () => {
    const read = (...args: string[]) => readOptions(args, '/project/root');
    expect(read()).toMatchObject({ data: '/project/shared/data/chunking-eval', k: 5, withoutMinilm: false });
    expect(read().json).toBeUndefined();
    expect(read('--json', 'out.json', '--without', 'minilm')).toMatchObject({
      json: 'out.json',
      withoutMinilm: true,
    });
    expect(read('--json', '--k', '3')).toMatchObject({ json: '-', k: 3 });
    expect(read('--chunker', '{"recursive":{}}').chunkers).toEqual([{ recursive: {} }]);
  });

  test('that cannot be are refused', () => {
    for (const args of [
      ['--k', '0'],
      ['--without', 'maxilm'],
      ['--dada', 'x'],
      ['--chunker', '{"x":1}'],
    ])
      expect(() => readOptions(args, '/project/root')).toThrow(
        expect.objectContaining({ code: 'config_invalid' }),
      );
  });
});
