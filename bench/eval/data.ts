import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { MillraceError } from '../../src/errors/millrace-error.js';
import { codePointOffsets } from './code-points.js';
import { union, type Interval } from './intervals.js';

export interface Question {
  readonly question: string;
  /** What answers it in the text of its corpus, in UTF-16 code units; a union. */
  readonly references: readonly Interval[];
}

/** One text and the questions about it: an index of its own. */
export interface Corpus {
  readonly name: string;
  readonly text: string;
  readonly questions: readonly Question[];
}

const line = z.strictObject({
  corpus: z.string().regex(/^\w+$/),
  question: z.string().min(1),
  references: z.array(z.strictObject({ start: z.int(), end: z.int(), text: z.string().min(1) })).min(1),
});

/**
 * Reads `questions.jsonl` and the corpora that it names, `NAME.md`, corpora in order of first mention.
 * @throws MillraceError `item_unreadable` when a file is missing, `item_malformed` when a line is not what it should be,
 * or a reference is not the slice that it claims to be
 */
export function readCorpora(folder: string): Corpus[] {
  const corpora = new Map<string, Corpus & { questions: Question[]; offset: (at: number) => number }>();
  const lines = read(folder, 'questions.jsonl').split('\n');
  lines.forEach((json, index) => {
    if (json.trim() === '') return;
    const where = `${join(folder, 'questions.jsonl')}, line ${index + 1}`;
    const { corpus: name, question, references } = parse(json, where);
    let corpus = corpora.get(name);
    if (corpus === undefined) {
      const text = read(folder, `${name}.md`);
      corpus = { name, text, questions: [], offset: codePointOffsets(text) };
      corpora.set(name, corpus);
    }
    const { text, offset, questions } = corpus;
    const spans = references.map((reference) => {
      const [start, end] = [offset(reference.start), offset(reference.end)];
      if (text.slice(start, end) === reference.text) return { start, end };
      throw new MillraceError(
        'item_malformed',
        `${where}: ${name}.md has another text at ${reference.start}`,
      );
    });
    questions.push({ question, references: union(spans) });
  });
  return [...corpora.values()].map(({ name, text, questions }) => ({ name, text, questions }));
}

function parse(json: string, where: string): z.infer<typeof line> {
  try {
    return line.parse(JSON.parse(json));
  } catch (cause) {
    throw new MillraceError('item_malformed', `${where}: not a question with its references`, { cause });
  }
}

function read(folder: string, name: string): string {
  const file = join(folder, name);
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new MillraceError('item_unreadable', `The evaluation data is missing: ${file} cannot be read.`, {
      cause,
      hint:
        'Name its folder with --data DIR. It holds three corpora of the Chroma chunking evaluation (repository ' +
        'brandonstarxel/chunking_evaluation, MIT licence) and their questions; docs/evaluation.md says in which form.',
    });
  }
}
